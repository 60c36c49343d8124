import { resolve } from 'node:path';
import { type BenchOptions, readCommandLine } from './options.ts';
import { compareResults, printComparison } from './report/comparison.ts';
import { newResult, readResult, suiteResult, writeResult } from './report/result-file.ts';
import { printReport, type Report } from './report/table.ts';
import { benchAccept } from './suites/accept.ts';
import { benchDeliver } from './suites/deliver.ts';
import { benchDisk } from './suites/disk.ts';
import { benchGraphql } from './suites/graphql.ts';
import { benchKills } from './suites/kills.ts';
import { benchLanes } from './suites/lanes.ts';
import { benchLogs } from './suites/logs.ts';
import { benchMemoryAtRest } from './suites/memory-at-rest.ts';
import { benchMemoryUnderLoad } from './suites/memory-under-load.ts';
import { benchOperators } from './suites/operators.ts';
import { benchPair, pairable } from './suites/pair.ts';
import { benchPriorities } from './suites/priorities.ts';
import { benchRequestLog } from './suites/request-log.ts';
import { benchRetention } from './suites/retention.ts';
import { benchScheduled } from './suites/scheduled.ts';
import { benchSlowDisk } from './suites/slow-disk.ts';
import { benchStart } from './suites/start.ts';
import { benchStartOfAttempts } from './suites/start-of-attempts.ts';
import { benchStorage } from './suites/storage.ts';
import { benchTelemetry } from './suites/telemetry.ts';
import { traceDeliver } from './suites/trace.ts';
import { benchTransports } from './suites/transports.ts';
import { benchWebhooks } from './suites/webhooks.ts';

// npm run bench -- [suite …] [--rounds 3] [--seconds 4] [--messages 5000000] [--rest-seconds 300]
//                     [--variant NAME]                     some variants of storage
// npm run bench -- [suite …] --against FILE               runs, and compares with an earlier result
// npm run bench -- --against FILE --result FILE           compares two results without a run
// npm run bench -- deliver --trace                        where the time of a message goes
// npm run bench -- --pair DIR --rounds 5 accept deliver   another checkout and this one, in turns
type Suite = (options: BenchOptions) => Promise<Report[]>;
const suites: Readonly<Record<string, Suite>> = {
  accept: benchAccept,
  'slow-disk': benchSlowDisk,
  'start-of-attempts': benchStartOfAttempts,
  deliver: benchDeliver,
  disk: benchDisk,
  kills: benchKills,
  lanes: benchLanes,
  logs: benchLogs,
  priorities: benchPriorities,
  retention: benchRetention,
  scheduled: benchScheduled,
  graphql: benchGraphql,
  transports: benchTransports,
  webhooks: benchWebhooks,
  telemetry: benchTelemetry,
  'request-log': benchRequestLog,
  start: benchStart,
  'memory-at-rest': benchMemoryAtRest,
  'memory-under-load': benchMemoryUnderLoad,
  operators: benchOperators,
  storage: benchStorage,
};
// It compares storage parameters for most of an hour, and measures nothing that the others are compared by.
const ONLY_BY_NAME: ReadonlySet<string> = new Set(['storage']);

const {
  suites: suite_names,
  against: compare_path,
  result: other,
  pair,
  trace,
  ...options
} = readCommandLine(process.argv.slice(2));
const before = compare_path === null ? null : readResult(compare_path);

if (compare_path !== null && before !== null && other !== null) {
  printComparison(compare_path, compareResults(before, readResult(other)));
} else {
  const known = trace ? ['deliver'] : pair === null ? Object.keys(suites) : pairable;
  const unknown = suite_names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`No suite is called ${unknown.join(', ')}; there are ${known.join(', ')}.\n`);
    process.exit(1);
  }
  const measured = before?.suites.map(({ suite }) => suite) ?? known.filter((name) => !ONLY_BY_NAME.has(name));
  await run(known.filter((name) => (suite_names.length === 0 ? measured : suite_names).includes(name)));
}

async function run(names: readonly string[]): Promise<void> {
  process.stdout.write(
    `Node ${process.version}, ${process.platform} ${process.arch}. Ratios inside one run count; absolute figures are for scale.\n`,
  );
  let result = newResult({ ...options, pair });
  const keep = (suite: string, reports: readonly Report[]) => {
    for (const report of reports) printReport(report);
    result = { ...result, suites: [...result.suites, ...reports.map((report) => suiteResult(suite, report))] };
    process.stdout.write(`  Written to ${writeResult(result)}\n`);
  };
  if (trace) for (const report of await traceDeliver(options)) printReport(report);
  else if (pair !== null) keep('pair', await benchPair(options, resolve(pair), names));
  else for (const name of names) keep(name, (await suites[name]?.(options)) ?? []);
  if (compare_path !== null && before !== null) printComparison(compare_path, compareResults(before, result));
}
