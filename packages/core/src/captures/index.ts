export type { MailAddress } from '@postrider/mail';
export { readCapture, readCaptureAs } from './read-capture.ts';
export { recordCapture } from './record-capture.ts';
export { newestCaptures, trimCaptures } from './store.ts';
