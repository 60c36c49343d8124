export { beginSession } from './begin-session.ts';
export { verifyOperator } from './check-password.ts';
export { personEmail } from './email.ts';
export { findSession } from './find-session.ts';
export { hashPassword, newPassword } from './password.ts';
export { resetPassword } from './reset-password.ts';
export { scopesOf, type WorkspaceRole, workspaceRoles } from './roles.ts';
export { anyOperator, insertUser } from './store.ts';
