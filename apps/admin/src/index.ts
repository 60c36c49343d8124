export { createHandler } from './listener.ts';
