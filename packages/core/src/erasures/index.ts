export { type ErasureEntry, erasedKinds } from './erasure-entry.ts';
export { listErasures } from './list-erasures.ts';
export { runErasure } from './run-erasure.ts';
export { getErasure, startErasure } from './start-erasure.ts';
