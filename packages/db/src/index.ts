export { pgConnection, throughPooler, withPasswordFile } from './address.ts';
export { hexTexts, isoTimes } from './array-parameters.ts';
export { type CommitWait, commitWait } from './commit-wait.ts';
export {
  arrayLiteral,
  type ConnectOptions,
  connect,
  connectSingly,
  retryingDeadlock,
  sqlState,
} from './connect.ts';
export {
  ID_ALPHABET,
  ID_CHARS,
  ID_TIME_CHARS,
  type IdKind,
  idKindOf,
  idOfUuid,
  idPrefixes,
  isId,
  kindNumbers,
  uuidOfId,
} from './ids.ts';
export { literals } from './literals.ts';
export { mayMigrate, migrate, pendingMigrations, requireUpgradable, schemaVersion } from './migrate.ts';
export { isOutage } from './outage.ts';
export {
  apart,
  equalsByRange,
  equalsUnpruned,
  fence,
  inBatch,
  listOf,
  looksUpArrays,
  planNormally,
  requireSession,
  unindexed,
} from './planner.ts';
export { fitsRecord, type RecordField, recordsIn, recordTexts } from './records.ts';
export { followReplica, type Replica } from './replica.ts';
export type { Fragment, Query, Sql, Tx } from './sql.ts';
export { isCertificateFault, tlsFault } from './tls/take-tls.ts';
export { offersNoTls } from './tls/tls-offer.ts';
export { transactionTime } from './transaction-time.ts';
export { writability } from './writability.ts';
