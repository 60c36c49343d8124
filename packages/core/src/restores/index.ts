export { checkRestore, type RestoreCheck } from './check-restore.ts';
export type { KnownSent, KnownState as Known, RecipientQuery as Asked } from './known-sent.ts';
export { readSentLog } from './sent-log.ts';
export { readReplica } from './sent-replica.ts';
