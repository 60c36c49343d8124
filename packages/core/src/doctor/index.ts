export { type Checkup, examineMachine } from './examine-machine.ts';
export { checkupStatuses } from './finding.ts';
export { checkDisk } from './machine-checks.ts';
