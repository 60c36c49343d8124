export { getHealth, type Health, type HealthStatus, healthStatuses, instanceStatus } from './get-health.ts';
export {
  instanceProblems,
  MAX_DESTINATIONS,
  operatorSummary,
  sharedProblemKinds,
  sharedProblems,
  workspaceProblemKinds,
  workspaceProblems,
} from './problems.ts';
