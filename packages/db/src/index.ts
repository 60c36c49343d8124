export { hexTexts, isoTimes } from './array-parameters.ts';
export {
  arrayLiteral,
  type ConnectOptions,
  connect,
  connectLanes,
  retryingDeadlock,
  sqlState,
} from './connect.ts';
export { literals } from './literals.ts';
export { migrate, pendingMigrations } from './migrate.ts';
export { isOutage } from './outage.ts';
export { equalsByRange, fence, inBatch, indexCollation, planNormally, unindexed } from './planner.ts';
export { fitsRecord, type RecordField, recordsIn, recordTexts } from './records.ts';
export type { Fragment, Query, Sql, Tx } from './sql.ts';
export { transactionTime } from './transaction-time.ts';
export { writability } from './writability.ts';
