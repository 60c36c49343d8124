import { createKey, listKeys, revokeKey } from '@postrider/core/api-keys';
import { mutation, query, router } from './invoke-procedure.ts';

export const apiKeys = router({
  list: query(listKeys),
  create: mutation(createKey),
  revoke: mutation(revokeKey),
});
