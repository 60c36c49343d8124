export { type Provisioned, provision, SANDBOX_DOMAIN } from './provision.ts';
export { oldestWorkspace } from './store.ts';
