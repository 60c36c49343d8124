export {
  jobPriorities,
  type Priority,
  priorities,
  priorityField,
  priorityOfJob,
  priorityWeights,
} from './priority.ts';
export { jobPriorityOf } from './priority-store.ts';
