export { type FailureGroup, type FailureGroups, failureGroups, MOST_TREND_POINTS } from './failure-groups.ts';
export { rollUpFailures, trimFailures } from './roll-up.ts';
export { failureKinds } from './signature.ts';
