import { createHold, getHold, listHolds, releaseHold } from '@postrider/core/holds';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const holds = router({
  list: query(listHolds),
  get: query(getHold),
  create: mutation(createHold),
  release: mutation(releaseHold),
});
