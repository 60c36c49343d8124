export {
  type AcceptLine,
  type AcceptParts,
  type Acknowledgement,
  createAcceptLine,
  type SendResult,
} from './accept-line.ts';
export { recipientKinds } from './addressees.ts';
export { cancelMessage, cancelUnsent } from './cancel-message.ts';
export { entriesOf } from './entries-by-id.ts';
export { eraseContents } from './erase-content.ts';
export { eventDataOf } from './event-data.ts';
export { type EmailContent, getContent } from './get-content.ts';
export { getMessage, type MessageDetail } from './get-message.ts';
export { listMessages } from './list-messages.ts';
export { type AttemptEntry, attemptOutcomes, type LogEntry, logEntrySchema, type RecipientEntry } from './log-entry.ts';
export { type FilterInput, filterFields, filterOf } from './messages-filter.ts';
export { stillMatching } from './messages-filter-store.ts';
export { moveUnsent } from './move-unsent.ts';
export { pageOfRecipients } from './page-of-recipients.ts';
export { type Preview, previewMessage } from './preview-message.ts';
export { type AttemptOfMessage, readAttempts, readLastAttempts } from './read-attempts.ts';
export { readMessages } from './read-messages.ts';
export { type Places, readPlaces } from './read-places.ts';
export { readRecipients } from './read-recipients.ts';
export { rescheduleMessage } from './reschedule-message.ts';
export { resendMessage } from './resend-message.ts';
export { lockDeferred, retryDeferred, retryMessageNow } from './retry-message.ts';
export { sendSchema } from './schema.ts';
export { type BatchAnswer, sendBatch } from './send-batch.ts';
export { sendMessage } from './send-message.ts';
export { dueLater, sendMessageNow } from './send-now.ts';
export { lockUnsent, type Unsent } from './unsent.ts';
export { type LockedRecipient, lockMailOf } from './unsent-store.ts';
export { countMessages, type MessageWalk, nextMessages, otherStatuses, type WalkStep } from './walk-messages.ts';
