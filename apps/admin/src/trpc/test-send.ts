import { sendMessage } from '@postrider/core/accept';
import { mutation, router } from './kit/invoke-procedure.ts';

/** For the Compose page: POST /email/send of REST. */
export const test = router({ send: mutation(sendMessage) });
