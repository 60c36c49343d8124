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
export { type KeyEntry, keyNotFound, keyStatuses } from './key-entry.ts';
export { createKeyUses, type KeyUses } from './key-uses.ts';
export { listKeys } from './list-keys.ts';
export { readKeys } from './read-keys.ts';
export { type RevokedKey, revokeKey } from './revoke-key.ts';
export { hasScope, type Scope, scopes } from './scopes.ts';
export { hashSecret, type KeyMode, keyModes, looksLikeSecret } from './secret.ts';
