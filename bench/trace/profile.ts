import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

// The first pattern that a script's address matches names its area.
const AREAS: readonly (readonly [pattern: RegExp, area: string])[] = [
  [/\/packages\/mail\/src\/compose\//, 'compose'],
  [/\/packages\/mail\/src\/dkim\//, 'DKIM form, hash and messages to the threads'],
  [/\/packages\/mail\//, 'SMTP'],
  [/\/node_modules\/postgres\//, 'driver of Postgres'],
  [/\/packages\/dispatch\//, 'pump and lanes'],
  [/\/packages\/(core|db|queue)\//, 'core: statements, records and judging'],
  [/\/apps\//, 'routes'],
  [/\/node_modules\//, 'other libraries'],
  [/^node:.*(crypto)/, 'node: crypto'],
  [/^node:.*(net|stream|tls|http)/, 'node: sockets and streams'],
  [/^node:/, 'node: other'],
];
const OWN_NAMES = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native code outside of JavaScript'],
]);

/** The arguments that make a Node process profile its threads into this folder. */
export function profileInto(folder: string): string[] {
  return ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${folder}`];
}

/** Returns the share of each area in the processor time of the main thread between two times of process.hrtime. */
export function areaShares(folder: string, from_us: number, until_us: number): Map<string, number> {
  const areas = new Map<string, number>();
  let sum = 0;
  for (const name of readdirSync(folder)) {
    // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile; the main thread is 0.
    if (name.split('.')[4] !== '0') continue;
    // The cast is safe because Node wrote the file.
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    const area_of = areasOfNodes(profile);
    let at_us = profile.startTime;
    for (const [index, id] of profile.samples.entries()) {
      at_us += profile.timeDeltas[index] ?? 0;
      const area = area_of.get(id) ?? null;
      if (area === null || at_us < from_us || at_us > until_us) continue;
      const took_us = profile.timeDeltas[index + 1] ?? 0;
      areas.set(area, (areas.get(area) ?? 0) + took_us);
      sum += took_us;
    }
  }
  return new Map([...areas].map(([area, us]) => [area, us / sum]));
}

/** Returns the area of each node; null if the thread was idle. Built-in functions belong to their callers. */
function areasOfNodes({ nodes }: CpuProfile): Map<number, string | null> {
  const by_id = new Map(nodes.map((node) => [node.id, node]));
  const areas = new Map<number, string | null>();
  const visit = (id: number, caller: string | null) => {
    const node = by_id.get(id);
    if (!node) return;
    const { functionName, url } = node.callFrame;
    const area =
      functionName === '(idle)'
        ? null
        : (OWN_NAMES.get(functionName) ?? AREAS.find(([pattern]) => pattern.test(url))?.[1] ?? caller);
    areas.set(id, area);
    for (const child of node.children ?? []) visit(child, area);
  };
  const [root] = nodes;
  if (root) visit(root.id, null);
  return areas;
}
