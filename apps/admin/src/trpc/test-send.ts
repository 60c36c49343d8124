import { previewMessage, sendMessage } from '@postrider/core/accept';
import { mutation, router } from './kit/invoke-procedure.ts';

/** For the Compose page: POST /email/send of REST, and the same with dry_run=true. */
export const test = router({ send: mutation(sendMessage), preview: mutation(previewMessage) });
