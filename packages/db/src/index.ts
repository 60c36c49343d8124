export { hexTexts, isoTimes } from './array-parameters.ts';
export {
  arrayLiteral,
  type ConnectOptions,
  connect,
  connectLanes,
  type Fragment,
  type Sql,
  sqlState,
  type Tx,
} from './connect.ts';
export { migrate, pendingMigrations } from './migrate.ts';
export { fitsRecord, type RecordField, recordsIn, recordTexts } from './records.ts';
export { transactionTime } from './transaction-time.ts';
