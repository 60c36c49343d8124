export { type Disk, diskOf } from './disk.ts';
export { deliveryKinds, getRetention, type RetentionView, retentionKinds } from './get-retention.ts';
export { getStorage, growthOf, type StorageView, tableKeeping } from './get-storage.ts';
export { maintainStorage } from './maintain.ts';
export { extendPartitions } from './store.ts';
