export { checkRestore, type RestoreCheck } from './check-restore.ts';
export type { Asked, Known, KnownSent } from './known-sent.ts';
export { readSentLog } from './sent-log.ts';
export { readReplica } from './sent-replica.ts';
