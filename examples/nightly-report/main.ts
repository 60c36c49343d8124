import { readFileSync } from 'node:fs';
import { Postrider } from '@postrider/sdk';
import { type Subscriber, scheduleReports } from './report.ts';

// A program of yours reads them from its database.
const subscribers: Subscriber[] = JSON.parse(readFileSync(new URL('subscribers.json', import.meta.url), 'utf8'));
const today = new Date().toISOString().slice(0, 10);

const { scheduled, rejected } = await scheduleReports(new Postrider(), subscribers, today);
console.log(`${scheduled.size} reports of ${today} scheduled, ${rejected.size} rejected`);
for (const [email, reason] of rejected) console.error(`${email}: ${reason}`);
// Cron and systemd report a program that fails.
if (rejected.size > 0) process.exitCode = 1;
