export { createHandler } from './listener.ts';
export { readBuiltFiles } from './pages/dashboard/built-files.ts';
export type { DashboardState } from './pages/dashboard/dashboard-routes.ts';
export { requireSession } from './session/session.ts';
export { type AppRouter, procedureNames } from './trpc/router.ts';
