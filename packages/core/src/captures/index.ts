export type { MailAddress } from '@postrider/mail';
export { type CaptureDetail, type CaptureEntry, captureNotFound } from './capture-entry.ts';
export { clearCaptures, deleteCapture } from './delete-captures.ts';
export { getCapture } from './get-capture.ts';
export { listCaptures } from './list-captures.ts';
export { recordCapture } from './record-capture.ts';
export { releaseCapture } from './release-capture.ts';
export { dropCaptureDays, trimCaptures } from './store.ts';
