export { type FollowedOverview, followOverview } from './follow-overview.ts';
export { onboardingState } from './onboarding-state.ts';
export { type Overview, overviewSummary } from './overview-summary.ts';
