export { type Change, followWorkspace } from './follow-workspace.ts';
export { onboardingState } from './onboarding-state.ts';
export { type Overview, overviewSummary } from './overview-summary.ts';
