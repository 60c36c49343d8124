export { createHold } from './create-hold.ts';
export { endExpiredHolds } from './end-expired.ts';
export { getHold } from './get-hold.ts';
export { type HoldEntry, holdEnd, holdSchema } from './hold-entry.ts';
export { keepInstanceHeld } from './keep-instance-held.ts';
export { listHolds } from './list-holds.ts';
export { holdsQueue } from './queue-store.ts';
export { readHolds } from './read-holds.ts';
export { releaseHold } from './release-hold.ts';
export { EVERYTHING, holdScopes, instanceQueues } from './scope.ts';
export {
  emptyHolds,
  HOLDS_CHANNEL,
  type HoldInForce,
  holdsInForce,
  holdsOnMail,
  noteDrained,
  takeResumption,
} from './store.ts';
