export {
  jobPriorities,
  jobPriority,
  type Priority,
  priorities,
  priorityField,
  priorityWeights,
} from './priority.ts';
export { jobPriorityOf } from './priority-store.ts';
