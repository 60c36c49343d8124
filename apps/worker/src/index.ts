export { createRole, type WorkerRole } from './role.ts';
