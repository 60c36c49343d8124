export { acceptInvitation, type OpenedInvitation, readInvitation } from './accept-invitation.ts';
export { createInvitation } from './create-invitation.ts';
export { listInvitations } from './list-invitations.ts';
export { resendInvitation } from './resend-invitation.ts';
export { revokeInvitation } from './revoke-invitation.ts';
export { forgetInvitations } from './store.ts';
