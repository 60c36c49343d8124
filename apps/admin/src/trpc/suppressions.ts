import {
  createSuppressions,
  deleteSuppressionForReason,
  listSuppressions,
  readSuppressionsByEmail,
} from '@postrider/core/suppressions';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const suppressions = router({
  list: query(listSuppressions),
  byAddress: query(readSuppressionsByEmail),
  add: mutation(createSuppressions),
  remove: mutation(deleteSuppressionForReason),
});
