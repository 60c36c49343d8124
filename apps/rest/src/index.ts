export { createHandler } from './handle.ts';
