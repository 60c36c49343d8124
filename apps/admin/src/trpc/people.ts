import { createInvitation, listInvitations, resendInvitation, revokeInvitation } from '@postrider/core/invitations';
import {
  activateTotp,
  beginTotp,
  changePassword,
  createSessionToken,
  endOtherSessions,
  endSession,
  getSignInPolicy,
  listMembers,
  listNotices,
  listOperators,
  listSessions,
  readFactors,
  readMemberCounts,
  removeMember,
  removeOperator,
  removeTotp,
  renewRecoveryCodes,
  setMemberRole,
  setName,
  setSignInPolicy,
  switchWorkspace,
  whoAmI,
} from '@postrider/core/people';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const people = router({
  me: query(whoAmI),
  switchWorkspace: mutation(switchWorkspace),
  setName: mutation(setName),
  changePassword: mutation(changePassword),
  sessions: query(listSessions),
  endSession: mutation(endSession),
  endOtherSessions: mutation(endOtherSessions),
  notices: query(listNotices),
  factors: query(readFactors),
  beginTotp: mutation(beginTotp),
  activateTotp: mutation(activateTotp),
  removeTotp: mutation(removeTotp),
  renewRecoveryCodes: mutation(renewRecoveryCodes),
  signInPolicy: query(getSignInPolicy),
  setSignInPolicy: mutation(setSignInPolicy),
});

export const session = router({ token: mutation(createSessionToken) });

export const members = router({
  list: query(listMembers),
  counts: query(readMemberCounts),
  setRole: mutation(setMemberRole),
  remove: mutation(removeMember),
});

export const operators = router({
  list: query(listOperators),
  remove: mutation(removeOperator),
});

export const invitations = router({
  list: query(listInvitations),
  create: mutation(createInvitation),
  resend: mutation(resendInvitation),
  revoke: mutation(revokeInvitation),
});
