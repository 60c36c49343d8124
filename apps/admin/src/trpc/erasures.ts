import { getErasure, listErasures, startErasure } from '@postrider/core/erasures';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const erasures = router({
  start: mutation(startErasure),
  get: query(getErasure),
  list: query(listErasures),
});
