export { cancelMessage, cancelUnsent, dropJobs } from './changes/cancel-message.ts';
export { deleteContents } from './changes/delete-contents.ts';
export { deleteUnkeptContents } from './changes/delete-unkept-contents.ts';
export { giveUp, giveUpMessage, type HopelessRecipient, lockHopeless } from './changes/give-up-message.ts';
export { moveUnsent } from './changes/move-unsent.ts';
export { rescheduleMessage } from './changes/reschedule-message.ts';
export { resendMessage } from './changes/resend-message.ts';
export { lockDeferred, retryDeferred, retryMessageNow } from './changes/retry-message.ts';
export { dueLater, sendMessageNow } from './changes/send-message-now.ts';
export { lockUnsent, type Unsent } from './changes/unsent.ts';
export { type LockedRecipient, lockMailOf } from './changes/unsent-store.ts';
export { createContentLink, type LinkedContent, openContentLink } from './log/content-link.ts';
export { forgetContentLinks } from './log/content-link-store.ts';
export { entriesOf } from './log/entries-by-id.ts';
export { eventDataOf } from './log/event-data.ts';
export { type EmailContent, getContent } from './log/get-content.ts';
export { explanationOf, getMessage, messageNotFound } from './log/get-message.ts';
export { listMessages, listMessagesAlone, listMessagesBackward } from './log/list-messages.ts';
export { attemptOutcomes, type LogEntry, logEntrySchema, type RecipientEntry } from './log/log-entry.ts';
export { filterFields, filterOf } from './log/messages-filter.ts';
export { stillMatching } from './log/messages-filter-store.ts';
export {
  type MessageAttempt,
  readAttempts,
  readAttemptsById,
  readLastAttempts,
} from './log/read-attempts.ts';
export { readMessages } from './log/read-messages.ts';
export { type Places, readPlaces } from './log/read-places.ts';
export { readRecipients } from './log/read-recipients.ts';
export { readRecipientPage } from './log/recipient-page.ts';
export { countMessages, type MessageWalk, nextMessages, otherStatuses, type WalkStep } from './log/walk-messages.ts';
