export {
  getFeedback,
  type NewTransportFeedback,
  removeFeedback,
  setFeedback,
  type TransportFeedback,
} from './configure-feedback.ts';
export { feedbackPurpose } from './feedback-secrets.ts';
export { forgetFeedback } from './feedback-store.ts';
export { matchFeedback } from './match-feedback.ts';
export type { FeedbackKind } from './provider.ts';
export { providerNames } from './providers.ts';
export { createFeedbackIntake, type FeedbackIntake, MAX_FEEDBACK_BYTES } from './receive-feedback.ts';
export { referenceHeader } from './reference-header.ts';
