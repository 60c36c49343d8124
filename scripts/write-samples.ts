// Writes the example responses of the API reference: runs each operation's curl sample against a new instance, and
// replaces what differs from run to run. Run it after a response has changed, then docs:openapi.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startDnsZone } from '@postrider/testing';
import { startInstance } from './instance.ts';
import { examples, operationsOf, type Reference, SampleWorld } from './reference-samples.ts';
import { runSample } from './run-doc-blocks.ts';
import { openApiText } from './write-openapi.ts';

const file = fileURLToPath(new URL('../apps/rest/src/samples/responses.json', import.meta.url));
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const FIRST_TIME_MS = Date.parse('2030-01-31T09:00:00.000Z');
const ID_TAIL = '01m7yakk5cmczahnwb48cs34m';
const ID_ENDS = 'vwxyz';
/** Longer lists make the reference longer and no clearer. */
const MAX_ENTRIES = 2;
const lists = new Set(['data', 'series']);
/** Lists by time, whose last entries are the ones with emails. */
const time_series = new Set(['points', 'by_day']);

/** Replaces secrets, names and addresses of the run with examples. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/pr_(live|test)_[0-9a-f]{64}/g, 'pr_$1_…'],
  [/whsec_[\w+/=]+/g, 'whsec_…'],
  [/http:\/\/127\.0\.0\.1:\d+\/hooks/g, 'https://example.com/hooks'],
  [/http:\/\/localhost:\d+/g, 'http://localhost:3000'],
  [/ada-\d+@/g, 'ada@'],
  [/shop-\d+\.example/g, 'example.com'],
  [/((?:bounce|defer)\+[\d.]+)\+\d+@/g, '$1@'],
  [/b\+[0-9a-z]+\.[0-9a-f]+@/g, 'b+…@'],
  [/ b=(?:[\w+/=]|\r\n | ){80,}/g, ' b=…'],
  [/127\.0\.0\.1:\d+/g, '192.0.2.53'],
  [/bh=[\w+/=]{40,}/g, 'bh=…'],
  [/\bt=\d{10}\b/g, `t=${FIRST_TIME_MS / 1000}`],
  [/\w{3}, \d\d? \w{3} \d{4} [\d:]{8} \+0000/g, 'Thu, 31 Jan 2030 09:00:00 +0000'],
  [/\b2\d{3}-\d\d(?=$|-\d\d$)/g, '2030-01'],
  [/p=[\w+/=]{40,}(?:" "[\w+/=]+)*/g, 'p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A…'],
  [/\b[0-9a-f]{32}\b/g, '9f86d081884c7d659a2feaa0c55ad015'],
];

/** Fields that depend on the run. */
const fixed_fields: readonly (readonly [RegExp, string])[] = [
  [/"resets_at":"[^"]+"/g, '"resets_at":"2030-02-01T00:00:00.000Z"'],
  [/"(last4|secret_last4)":"[^"]+"/g, '"$1":"a1b2"'],
  [/"logs_per_minute":\d+/g, '"logs_per_minute":60'],
  [/"default_per_minute":\d+/g, '"default_per_minute":120'],
  [/"duration_ms":\d+/g, '"duration_ms":12'],
  [/"(connect|mail|data)":[\d.]+/g, '"$1":1.2'],
];

function example(value: object, names_time: boolean): unknown {
  return dated(identified(shortened(value)), names_time);
}

function shortened(value: unknown, name = ''): unknown {
  if (typeof value === 'string')
    return replacements.reduce((text, [pattern, other]) => text.replace(pattern, other), value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const entries = lists.has(name) ? value.slice(0, MAX_ENTRIES) : value;
    return (time_series.has(name) ? entries.slice(-MAX_ENTRIES) : entries).map((entry) => shortened(entry));
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one, key)]));
}

/** Numbers the ids of each kind by their last letter. */
function identified(value: unknown): object {
  const ids = new Map<string, string>();
  const counts = new Map<string, number>();
  return JSON.parse(
    JSON.stringify(value).replace(/(?<![a-z])([a-z]{3})_[0-9a-z]{26}(?![0-9a-z])/g, (id, kind: string) => {
      const count = counts.get(kind) ?? 0;
      if (!ids.has(id)) counts.set(kind, count + 1);
      const replaced = ids.get(id) ?? `${kind}_${ID_TAIL}${ID_ENDS[count % ID_ENDS.length]}`;
      ids.set(id, replaced);
      return replaced;
    }),
  );
}

/** Moves all times so that the first, or the one that the sample names, is the examples' usual one. */
function dated(value: object, names_time: boolean): unknown {
  const text = JSON.stringify(value);
  const times = [...text.matchAll(TIME)].map(([time]) => Date.parse(time));
  if (times.length === 0) return value;
  const { scheduled_at, since } = value as { readonly scheduled_at?: string; readonly since?: string };
  const anchor_ms = names_time ? Date.parse(scheduled_at ?? since ?? '') : Math.min(...times);
  const moved = (time: string) => new Date(Date.parse(time) - anchor_ms + FIRST_TIME_MS).toISOString();
  return JSON.parse(
    fixed_fields.reduce((result, [pattern, field]) => result.replace(pattern, field), text.replace(TIME, moved)),
  );
}

const reference = JSON.parse(openApiText()) as Reference;
const zone = await startDnsZone();
const instance = await startInstance({ DNS_SERVERS: zone.address, HELO_NAME: 'mail.example.com' });
const world = new SampleWorld(instance, zone);
const responses: Record<string, unknown> = {};
try {
  await world.open();
  for (const { operationId, 'x-codeSamples': samples } of operationsOf(reference)) {
    const source = samples.find(({ lang }) => lang === 'sh')?.source ?? '';
    const { printed, problem } = await runSample('sh', await world.prepare(operationId, source), instance);
    if (problem !== null) throw new Error(`${operationId}: ${problem}`);
    responses[operationId] = example(JSON.parse(printed) as object, source.includes(examples.time));
  }
} finally {
  world.close();
  await instance.stop();
  await zone.stop();
}
writeFileSync(file, `${JSON.stringify(responses, null, 2)}\n`);
