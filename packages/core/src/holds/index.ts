export { createHold } from './create-hold.ts';
export { endExpiredHolds } from './end-expired.ts';
export { getHold } from './get-hold.ts';
export type { HoldEntry } from './hold-entry.ts';
export { listHolds } from './list-holds.ts';
export { readHolds } from './read-holds.ts';
export { releaseHold } from './release-hold.ts';
export { holdScopes } from './scope.ts';
export { emptyHolds, HOLDS_CHANNEL, type HoldInForce, holdsInForce, noteDrained, takeResumption } from './store.ts';
