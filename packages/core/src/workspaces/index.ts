export { type Provisioned, provision, SANDBOX_DOMAIN } from './provision.ts';
