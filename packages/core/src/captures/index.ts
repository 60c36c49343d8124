export type { MailAddress } from '@postrider/mail';
export { readCapture } from './read-capture.ts';
export { type ReceivedMail, recordCapture } from './record-capture.ts';
export { type CaptureRow, newestCaptures, trimCaptures } from './store.ts';
