import { getBacklog } from '@postrider/core/backlog';
import { cancelBulk, getBulk, listBulk, listBulkItems, previewBulk, runBulk } from '@postrider/core/bulk';
import { examineMachine } from '@postrider/core/doctor';
import { failureGroups } from '@postrider/core/failures';
import { getHealth } from '@postrider/core/health';
import {
  cancelJob,
  getJob,
  getQueue,
  listJobs,
  listQueues,
  listSchedules,
  listWorkers,
  queueHistory,
  retryJob,
  runJobNow,
  runSchedule,
  setConcurrency,
} from '@postrider/core/queues';
import { getStorage } from '@postrider/core/storage';
import { mutation, query, router } from './kit/invoke-procedure.ts';

const jobs = router({
  list: query(listJobs),
  get: query(getJob),
  retry: mutation(retryJob),
  cancel: mutation(cancelJob),
  runNow: mutation(runJobNow),
});

const schedules = router({ list: query(listSchedules), run: mutation(runSchedule) });

export const ops = router({
  queues: query(listQueues),
  queue: query(getQueue),
  history: query(queueHistory),
  setConcurrency: mutation(setConcurrency),
  jobs,
  workers: query(listWorkers),
  schedules,
  health: query(getHealth),
  doctor: query(examineMachine),
  storage: query(getStorage),
  backlog: query(getBacklog),
  failureGroups: query(failureGroups),
  // A POST, although it changes nothing: a filter contains addresses, which must not appear in a URL.
  bulkPreview: mutation(previewBulk),
  bulkRun: mutation(runBulk),
  bulkCancel: mutation(cancelBulk),
  bulkList: query(listBulk),
  bulkGet: query(getBulk),
  bulkItems: query(listBulkItems),
});
