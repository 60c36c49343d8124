export { type AuditAction, auditKinds } from './actions.ts';
export { type AuditEntry, actorKinds } from './audit-entry.ts';
export { type FollowedEntry, followAudit } from './follow-audit.ts';
export { listAudit } from './list-audit.ts';
export { readAuditEntries } from './read-audit.ts';
export { readMakers } from './read-makers.ts';
export { type AuditFact, changesOf, draftAudit, recordAudit } from './record.ts';
export { type AuditDraft, auditBehind, auditHead, auditInsertion } from './store.ts';
export { type AuditVerification, verifyAudit } from './verify-audit.ts';
