export { type FailureGroup, type FailureGroups, failureGroups } from './failure-groups.ts';
export { rollUpFailures, trimFailures } from './roll-up.ts';
export { type FailureKind, type FailureSignature, failureKinds, failureSignature, kindOfReply } from './signature.ts';
