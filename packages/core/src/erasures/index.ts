export { type ErasureEntry, erasedKinds } from './erasure-entry.ts';
export { runErasure } from './run-erasure.ts';
export { getErasure, startErasure } from './start-erasure.ts';
