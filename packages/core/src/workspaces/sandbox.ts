/** Verified in every workspace; useful only while no mail leaves this machine. */
export const SANDBOX_DOMAIN = 'sandbox.test';
