export { hasScope, type Scope, scopes } from '../operation/scopes.ts';
export { hashSecret, type KeyMode, keyModes } from '../operation/secrets.ts';
export {
  authenticate,
  checkKey,
  countPublic,
  identify,
  keyRefusal,
  readCredential,
  refuseAddress,
} from './authenticate.ts';
export { createKey } from './create-key.ts';
export { type CurrentKey, currentKey } from './current-key.ts';
export { keyDomainProblem } from './key-domains.ts';
export { type KeyEntry, keyNotFound, keyStatuses, scopeField } from './key-entry.ts';
export { keyUsage, readKeyUsages } from './key-usage.ts';
export { createKeyUses } from './key-uses.ts';
export { refuseLimitedKey } from './limited-key.ts';
export { listKeys } from './list-keys.ts';
export { checkPassword, type SmtpLogin } from './passwords.ts';
export { readKeys } from './read-keys.ts';
export { revokeKey } from './revoke-key.ts';
export { rotateKey } from './rotate-key.ts';
export type { KeyMatch as FoundKey, KeyResult as KeyAnswer, NewKeyRow, SenderFacts } from './store.ts';
export { admitKeys, insertKey, keyRefusalFrom, senderFacts } from './store.ts';
export { keyStatusIn } from './validity-store.ts';
