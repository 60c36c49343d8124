export { findThings } from './find-things.ts';
export { type Hit, hitTypes } from './hit.ts';
export { type AddressSummary, summarizeAddress } from './summarize-address.ts';
