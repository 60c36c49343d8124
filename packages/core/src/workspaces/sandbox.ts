/** Verified in every workspace, and of use only where nothing leaves for the network. */
export const SANDBOX_DOMAIN = 'sandbox.test';
