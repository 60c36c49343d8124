export {
  DELIVERY_STEPS_CHANNEL,
  type DeliveryStep,
  deliverySteps,
  type ReachedStep,
  reachStep,
} from '../process/delivery-steps.ts';
export { type DeliveryState, deliveryStates, messageStatus, openStates, transitions } from '../states/index.ts';
export {
  type AttemptWatch,
  attemptDelivery,
  type ClaimedDelivery as Claimed,
  type Mailers,
  type Sender,
  type SettledDelivery as Settled,
  unansweredDelivery,
  unsentDelivery,
  withoutReply,
} from './attempt.ts';
export type { Bounce } from './bounce.ts';
export { claimDeliveries } from './claim.ts';
export { classify, type RefusalCategory, type ReplyText, refusalCategories } from './classify.ts';
export { type Content, renderSigned } from './content.ts';
export { addDeliveryJobs, type DeliveryJob } from './jobs-store.ts';
export {
  createDefaultMailer,
  createMailers,
  createTransportMailer,
  defaultSender,
  isCaptured,
  relayOfRow,
  relaysOfDelivery,
  senderOfRow,
  stopMailers,
} from './mailers.ts';
export { lastResponse, type UnknownPolicy } from './outcome.ts';
export { newWalk, reconcileDeliveries } from './reconcile.ts';
export { recordReturned } from './record-returned.ts';
export { readRecord } from './refusals/reply-in-text.ts';
export { type ContentForm, PLAIN_FORM, RELAY_FORM, renderMessage, storedAttachments } from './render.ts';
export { retryDelay } from './retry.ts';
export { type ReturnPath, readReturnPath } from './return-path.ts';
export { GIVEN_UP, settleDeliveries } from './settle.ts';
export { LEASE_SECONDS, lockMessages, READ_TOGETHER_BYTES, renewLeases, showAttempts, transition } from './store.ts';
export { stsPolicyStore } from './sts-policies.ts';
export { forgetStsPolicies } from './sts-store.ts';
export {
  countWorkers,
  forgetDeliveryWorkers,
  freeLeftovers,
  freeUnknownMail,
  freeWorker,
  isThere,
  noteWorker,
} from './workers-store.ts';
