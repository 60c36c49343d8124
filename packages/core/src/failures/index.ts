export {
  type FailureGroup,
  type FailureGroups,
  failureGroups,
  MAX_TREND_POINTS,
  readFailureGroups,
} from './failure-groups.ts';
export { rollUpFailures, trimFailures } from './roll-up.ts';
export { failureKinds } from './signature.ts';
