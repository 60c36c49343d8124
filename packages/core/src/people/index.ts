export { type Entry, entryWays } from './admit-person.ts';
export { readFactors, removeTotp, renewRecoveryCodes } from './factors/own-factors.ts';
export { activateTotp, beginTotp } from './factors/set-up-totp.ts';
export { getSignInPolicy, setSignInPolicy } from './factors/sign-in-policy.ts';
export { totpPurpose } from './factors/totp.ts';
export { inviteMember, memberExists, settledElsewhere } from './members/invite-member.ts';
export { listMembers } from './members/list-members.ts';
export { type MemberEntry, roleField, workspaceField } from './members/member-entry.ts';
export { membersOf } from './members/members-of.ts';
export { readMemberCounts } from './members/read-member-counts.ts';
export { removeMember } from './members/remove-member.ts';
export { setMemberRole } from './members/set-member-role.ts';
export { deviceOf } from './notices/device-of.ts';
export { listNotices } from './notices/list-notices.ts';
export { noteAccount } from './notices/note-account.ts';
export { type NoticeKind, readDueNotice, settleNotice } from './notices/notice-store.ts';
export { addOperator } from './operators/add-operator.ts';
export { listOperators } from './operators/list-operators.ts';
export type { OperatorEntry } from './operators/operator-entry.ts';
export { removeOperator } from './operators/remove-operator.ts';
export { resetPassword } from './operators/reset-password.ts';
export { resetSignIn } from './operators/reset-sign-in.ts';
export { emailField, reasonField } from './person.ts';
export { replaceCredential } from './replace-credential.ts';
export { chainOf, scopesOf, type WorkspaceRole, workspaceRoles } from './roles.ts';
export { admitBearer, readBearer, type SessionBearer } from './sessions/bearer.ts';
export { beginSession } from './sessions/begin-session.ts';
export { changePassword } from './sessions/change-password.ts';
export { confirmPassword } from './sessions/confirm-password.ts';
export { createLoginLink } from './sessions/create-login-link.ts';
export { createSessionToken } from './sessions/create-session-token.ts';
export { endOtherSessions, endSession } from './sessions/end-sessions.ts';
export { findSession } from './sessions/find-session.ts';
export { listSessions } from './sessions/list-sessions.ts';
export {
  type Arrival,
  login,
  loginByCode,
  loginByLink,
  originOf,
  type SignInOutcome,
  signIn,
} from './sessions/login.ts';
export { countAttempt, forgetLoginFailures } from './sessions/login-failures-store.ts';
export { beginAttempt, tooManyAttempts } from './sessions/login-tries.ts';
export { logout } from './sessions/logout.ts';
export { hashPassword, newPassword } from './sessions/password.ts';
export { chosenPassword } from './sessions/password-field.ts';
export { inPasswordPlace } from './sessions/password-places.ts';
export { endSessions, forgetSessions } from './sessions/session-store.ts';
export { setName } from './sessions/set-name.ts';
export { isBearerStillSame, isStillSame } from './sessions/still-same.ts';
export { switchWorkspace } from './sessions/switch-workspace.ts';
export { hashToken, newToken } from './sessions/token.ts';
export { whoAmI } from './sessions/who-am-i.ts';
export { requireAdmittedSince, requireStillAdmitted } from './still-admitted.ts';
export {
  anyOperator,
  grantOperator,
  insertMember,
  insertUser,
  lockEmail,
  lockKnown,
  lockUser,
  replacePasswordHash,
  type UserRow,
  userByEmail,
  workspacesOf,
} from './store.ts';
export { accountChain, visitorContext } from './visitor-context.ts';
