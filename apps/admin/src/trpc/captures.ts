import { clearCaptures, deleteCapture, getCapture, listCaptures, releaseCapture } from '@postrider/core/captures';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const captures = router({
  list: query(listCaptures),
  get: query(getCapture),
  delete: mutation(deleteCapture),
  clear: mutation(clearCaptures),
  release: mutation(releaseCapture),
});
