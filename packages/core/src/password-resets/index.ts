export { requestReset } from './request-reset.ts';
export { resetByLink } from './reset-by-link.ts';
export { forgetResets } from './store.ts';
