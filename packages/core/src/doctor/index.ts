export type { Checkup } from './checkup.ts';
export { examineMachine } from './examine-machine.ts';
export { checkupStatuses } from './finding.ts';
export { checkDisk } from './machine-checks.ts';
export { testTransport } from './test-transport.ts';
