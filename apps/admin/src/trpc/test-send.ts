import { sendMessage } from '@postrider/core/accept';
import { mutation, router } from './kit/invoke-procedure.ts';

/** Exposes REST's POST /email/send to the New email page. */
export const test = router({ send: mutation(sendMessage) });
