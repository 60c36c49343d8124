/** Verified in every workspace; useful only as long as no email leaves this machine. */
export const SANDBOX_DOMAIN = 'sandbox.test';
