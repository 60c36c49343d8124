export {
  getFeedback,
  type NewTransportFeedback,
  removeFeedback,
  setFeedback,
  type TransportFeedback,
} from './configure-feedback.ts';
export { feedbackOfSender } from './feedback-of-sender.ts';
export { feedbackProblems } from './feedback-problems.ts';
export { feedbackPurpose } from './feedback-secrets.ts';
export { forgetFeedback, forgetReceipts } from './feedback-store.ts';
export { matchFeedback } from './match-feedback.ts';
export type { FeedbackProblem } from './problem-store.ts';
export type { FeedbackKind } from './provider.ts';
export { providerNames } from './providers.ts';
export {
  createFeedbackIntake,
  type FeedbackIntake,
  type IntakeOptions,
  MAX_FEEDBACK_BYTES,
} from './receive-feedback.ts';
