export { createHandler } from './listener.ts';
export type { AppRouter } from './trpc/router.ts';
