export { type AuditAction, auditActions } from './actions.ts';
export { type AuditFact, INSTANCE, recordAudit } from './record.ts';
