import { createSuppressions, deleteSuppression, listSuppressions } from '@postrider/core/suppressions';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const suppressions = router({
  list: query(listSuppressions),
  add: mutation(createSuppressions),
  remove: mutation(deleteSuppression),
});
