export { createRole, type InboundRole } from './role.ts';
