export { type SuppressionReason, suppressionReasons } from './reason.ts';
export { type AddedSuppression, addSuppressions, type NewSuppression } from './store.ts';
