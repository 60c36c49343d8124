export { type Listener, startListener } from './listener.ts';
export { createRole, type InboundRole } from './role.ts';
