export { bodyBudgetUsed } from './body-budget.ts';
export {
  bodyBounds,
  bounceClientBounds,
  largeCommitBounds,
  largeEmailBounds,
  largeSandboxBounds,
  parsingBounds,
} from './bounds.ts';
export { FairLine, type LineBounds, type ShareReason, ShareRejected } from './fair-line.ts';
export { NetworkPlaces, type PlacesBounds } from './network-places.ts';
