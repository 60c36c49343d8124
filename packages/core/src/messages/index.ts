export {
  type AcceptLine,
  type AcceptParts,
  type Acknowledgement,
  createAcceptLine,
  type SendResult,
} from './accept-line.ts';
export { cancelMessage } from './cancel-message.ts';
export { type EmailContent, getContent } from './get-content.ts';
export { getMessage, type MessageDetail } from './get-message.ts';
export { listMessages } from './list-messages.ts';
export type { AttemptEntry, LogEntry, RecipientEntry } from './log-entry.ts';
export { type Preview, previewMessage } from './preview-message.ts';
export { readMessages } from './read-messages.ts';
export { rescheduleMessage } from './reschedule-message.ts';
export { resendMessage } from './resend-message.ts';
export { retryMessageNow } from './retry-message.ts';
export { sendSchema } from './schema.ts';
export { type BatchAnswer, sendBatch } from './send-batch.ts';
export { sendMessage } from './send-message.ts';
export { sendMessageNow } from './send-now.ts';
