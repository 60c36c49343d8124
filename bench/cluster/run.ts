import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wallTime } from '../faults/wall-time.ts';
import type { Drill } from './drill.ts';
import { asynchronousDrill, failoverDrill } from './failover-drill.ts';
import { keysDrill } from './keys-drill.ts';
import { poolerDrill } from './pooler-drill.ts';
import { processesDrill } from './processes-drill.ts';
import { replicaDrill } from './replica-drill.ts';
import { restoreDrill } from './restore-drill.ts';
import { unitsDrill } from './units-drill.ts';

// npm run test:cluster -- [NAME …]
// Exits with 1 if a check fails. docs/operations.md has the figures.

const drills: Readonly<Record<string, Drill>> = {
  processes: processesDrill,
  failover: failoverDrill,
  asynchronous: asynchronousDrill,
  keys: keysDrill,
  pooler: poolerDrill,
  replica: replicaDrill,
  restore: restoreDrill,
  units: unitsDrill,
};

// Everything still running is killed with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(drills);
const unknown = names.filter((name) => !Object.hasOwn(drills, name));
if (unknown.length > 0) {
  for (const [name, { about: description }] of Object.entries(drills))
    console.error(`${name.padEnd(10)} ${description}`);
  throw new Error(`no drill ${unknown.join(', ')}`);
}
let sound = true;
for (const name of names) {
  const began = wallTime();
  const print = (line: string) => console.log(`${((wallTime() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  const folder = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  chmodSync(folder, 0o755);
  console.log(`${name}: ${drills[name]?.about}`);
  const passed = (await drills[name]?.run({ folder, say: print })) === true;
  if (passed) rmSync(folder, { recursive: true, force: true });
  else console.log(`its logs are in ${folder}`);
  sound &&= passed;
}
process.exit(sound ? 0 : 1);
