export { createSuppressions } from './create-suppressions.ts';
export { deleteSuppression } from './delete-suppression.ts';
export { expireSuppressions } from './expire-suppressions.ts';
export { stillSuppressed } from './in-force-store.ts';
export { listSuppressions } from './list-suppressions.ts';
export { readSuppressions, readSuppressionsByEmail } from './read-suppressions.ts';
export { type SuppressionSource, suppressionSources } from './source.ts';
export { addSuppressions, type NewSuppression } from './store.ts';
export { type SuppressionEntry, suppressionNotFound } from './suppression-entry.ts';
