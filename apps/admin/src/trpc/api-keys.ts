import { createKey, listKeys, revokeKey, rotateKey } from '@postrider/core/api-keys';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const apiKeys = router({
  list: query(listKeys),
  create: mutation(createKey),
  rotate: mutation(rotateKey),
  revoke: mutation(revokeKey),
});
