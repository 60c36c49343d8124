export { hashPassword, newPassword } from './password.ts';
export { resetPassword } from './reset-password.ts';
export { anyOperator, insertOperator } from './store.ts';
export { verifyOperator } from './verify-operator.ts';
