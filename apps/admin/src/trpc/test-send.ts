import { previewMessage, sendMessage } from '@postrider/core/accept';
import { mutation, router, sending } from './kit/invoke-procedure.ts';

/** The Compose page: what REST has as POST /email/send, and the same with dry_run=true. */
export const test = router({ send: sending(sendMessage), preview: mutation(previewMessage) });
