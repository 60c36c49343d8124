export { getHealth, type Health, type HealthStatus, healthStatuses, instanceStatus } from './get-health.ts';
export { instanceProblemKinds, instanceProblems, workspaceProblemKinds, workspaceProblems } from './problems.ts';
