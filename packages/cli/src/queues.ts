import type { Command } from 'commander';
import { addHolds } from './holds.ts';
import type { Terminal } from './terminal.ts';

/** What waits and what moves it: the lines of work, and the levers on them. */
export function addQueues(program: Command, terminal: Terminal): void {
  const queues = program.command('queues').description('on the machine itself: what waits, and the levers on it');
  addHolds(queues, terminal);
}
