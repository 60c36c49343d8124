export { maintainStorage } from './maintain.ts';
export { extendPartitions } from './store.ts';
