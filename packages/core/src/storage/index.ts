export { maintainStorage } from './maintain.ts';
