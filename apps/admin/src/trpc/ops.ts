import { getBacklog } from '@postrider/core/backlog';
import { cancelBulk, getBulk, listBulk, listBulkItems, previewBulk, readExport, runBulk } from '@postrider/core/bulk';
import { failureGroups } from '@postrider/core/failures';
import { mutation, query, router } from './invoke-procedure.ts';

export const ops = router({
  backlog: query(getBacklog),
  failureGroups: query(failureGroups),
  // By POST although it changes nothing: a filter holds addresses, and those do not belong in a URL.
  bulkPreview: mutation(previewBulk),
  bulkRun: mutation(runBulk),
  bulkCancel: mutation(cancelBulk),
  bulkList: query(listBulk),
  bulkGet: query(getBulk),
  bulkItems: query(listBulkItems),
  bulkExport: query(readExport),
});
