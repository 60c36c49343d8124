export { BYTES_A_MAIL, diskOf } from './disk.ts';
export { deliveryKinds, getRetention, type RetentionView, retentionKinds } from './get-retention.ts';
export { getStorage, type StorageView, tableKeeping } from './get-storage.ts';
export { maintainStorage } from './maintain.ts';
export { extendPartitions } from './store.ts';
