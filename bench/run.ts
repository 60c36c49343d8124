import { benchAccept, benchSlowDisk } from './accept.ts';
import { benchDeliver } from './deliver.ts';
import { benchGraphql } from './graphql.ts';
import { benchKills } from './kills.ts';
import { benchLanes } from './lanes.ts';
import { benchLogs, type LogsOptions } from './logs.ts';
import { benchOperators } from './operators.ts';
import { benchStartOfAttempts } from './start-of-attempts.ts';
import { benchWebhooks } from './webhooks.ts';

// npm run bench -- [suite …] [--rounds=3] [--seconds=4] [--messages=5000000]
const suites: Readonly<Record<string, (options: LogsOptions) => Promise<void>>> = {
  accept: benchAccept,
  'slow-disk': benchSlowDisk,
  'start-of-attempts': benchStartOfAttempts,
  deliver: benchDeliver,
  kills: benchKills,
  lanes: benchLanes,
  logs: benchLogs,
  operators: benchOperators,
  graphql: benchGraphql,
  webhooks: benchWebhooks,
};

const args = process.argv.slice(2);
const option = (name: string, otherwise: number) =>
  Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? otherwise);
const options = { rounds: option('rounds', 3), seconds: option('seconds', 4), messages: option('messages', 5_000_000) };
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => !(name in suites));
if (unknown.length > 0) {
  process.stderr.write(`No suite is called ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}.\n`);
  process.exit(1);
}
process.stdout.write(
  `Node ${process.version}, ${process.platform} ${process.arch}. Ratios inside one run count; absolute figures are for scale.\n`,
);
for (const [name, suite] of Object.entries(suites)) {
  if (named.length === 0 || named.includes(name)) await suite(options);
}
