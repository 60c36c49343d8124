import { readFileSync } from 'node:fs';
import { Postrider } from '@postrider/sdk';
import { Progress } from './progress.ts';
import { type Subscriber, scheduleReports } from './report.ts';

// A program of yours reads them from its database.
const subscribers: Subscriber[] = JSON.parse(readFileSync(new URL('subscribers.json', import.meta.url), 'utf8'));
const today = new Date().toISOString().slice(0, 10);

const progress = new Progress('progress', today);
const missing = subscribers.filter(({ email }) => !progress.has(email));
for await (const outcomes of scheduleReports(new Postrider(), missing, today)) {
  progress.record(outcomes);
  for (const { email, id, rejected } of outcomes) {
    console.log(id === undefined ? `${email}: rejected: ${rejected}` : `${email}: scheduled as ${id}`);
    // Cron and systemd report a program that fails.
    if (id === undefined) process.exitCode = 1;
  }
}
console.log(
  `${subscribers.length - missing.length} of ${subscribers.length} reports of ${today} were scheduled before.`,
);
