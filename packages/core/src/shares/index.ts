export { bodyBudgetUsed } from './body-budget.ts';
export {
  bodyBounds,
  bounceClientBounds,
  captureClientBounds,
  docSearchBounds,
  domainCheckBounds,
  keyBounds,
  largeCommitBounds,
  largeEmailBounds,
  largeSandboxBounds,
  parsingBounds,
  passwordBounds,
  submissionByteBounds,
  submissionClientBounds,
  submissionStrangerBounds,
} from './bounds.ts';
export { createCapturePort } from './capture-port.ts';
export { FairLine, type LineBounds, type ShareReason, ShareRejected } from './fair-line.ts';
export { Minutes } from './minutes.ts';
export { NetworkPlaces } from './network-places.ts';
export { countRejected, Places, type PlacesBounds } from './places.ts';
export { takeTurns } from './take-turns.ts';
export { lockEntries, postpone } from './turn-store.ts';
