import { inBatch } from '@postrider/db';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { catchUp } from '../stats/index.ts';
import { type FailureKind, type FailureSignature, failureSignature, replyKind } from './signature.ts';
import {
  type CountedGroup,
  type FailuresSeen,
  failedDeliveries,
  failedJobs,
  failedPosts,
  forgetFailures,
  type KnownGroup,
  replaceFailures,
} from './store.ts';

export const RETENTION = { minute_days: 3, hour_days: 90 };
// Per minute, workspace and kind: replies that no rule normalizes must not fill up the tables.
const MAX_GROUPS = 200;
const MAX_DESTINATIONS = 10;
/** Returns the catch-all group of a kind. */
const othersOf = (kind: FailureKind): FailureSignature => ({
  id: `others_${kind}`,
  signature: 'others',
  code: null,
  enhanced_code: null,
});

/** Groups new failures, and those that arrived late. Runs every minute. */
export async function rollUpFailures(services: Pick<Services, 'sql'>, budget_ms?: number): Promise<void> {
  await catchUp(
    services,
    {
      name: 'failures',
      async compute(tx, from, to) {
        const deliveries = await failedDeliveries(tx, from, to);
        const posts = await failedPosts(tx, from, to);
        const jobs = await failedJobs(tx, from, to);
        const known = new Map<string, KnownGroup>();
        const groups = [
          ...group(deliveries, replyKind, known),
          ...group(posts, () => 'webhook', known),
          ...group(jobs, () => 'job', known),
        ];
        await replaceFailures(tx, from, to, groups, [...known.values()]);
      },
    },
    budget_ms,
  );
}

export async function trimFailures({ sql }: Pick<Services, 'sql'>): Promise<void> {
  await inBatch(sql, (tx) => forgetFailures(tx, RETENTION));
}

interface Tally {
  readonly signature: FailureSignature;
  readonly seen: FailuresSeen[];
  count: number;
}

/** Counts failures by signature, per workspace and for the instance, and adds each group to `known`. */
function group(
  samples: readonly FailuresSeen[],
  kindOf: (reply: string) => FailureKind,
  known: Map<string, KnownGroup>,
): CountedGroup[] {
  const signatures = new Map<string, { kind: FailureKind; signature: FailureSignature }>();
  const buckets = new Map<string, { workspace_id: string; kind: FailureKind; at: Date; tallies: Map<string, Tally> }>();
  for (const failure of samples) {
    const kind = signatures.get(failure.said)?.kind ?? kindOf(failure.said);
    const signature = signatures.get(failure.said)?.signature ?? failureSignature(failure.said, kind);
    signatures.set(failure.said, { kind, signature });
    for (const workspace_id of new Set([failure.workspace_id, INSTANCE])) {
      const name = `${workspace_id} ${kind} ${failure.at.getTime()}`;
      const bucket = buckets.get(name) ?? { workspace_id, kind, at: failure.at, tallies: new Map<string, Tally>() };
      buckets.set(name, bucket);
      const tally = bucket.tallies.get(signature.id) ?? { signature, seen: [], count: 0 };
      bucket.tallies.set(signature.id, tally);
      tally.seen.push(failure);
      tally.count += failure.count;
    }
  }
  return [...buckets.values()].flatMap(({ workspace_id, kind, at, tallies }) =>
    bounded([...tallies.values()], kind).flatMap(({ signature, seen: samples }) => {
      note(known, { workspace_id, kind, signature, seen: samples });
      return byDestination(samples).map(([destination, count]) => ({
        workspace_id,
        kind,
        at,
        group_id: signature.id,
        destination,
        count,
      }));
    }),
  );
}

/** Returns the largest groups, and one for all others. */
function bounded(tallies: Tally[], kind: FailureKind): Tally[] {
  if (tallies.length <= MAX_GROUPS) return tallies;
  const sorted = tallies.sort(
    (left, right) => right.count - left.count || (left.signature.id < right.signature.id ? -1 : 1),
  );
  const rest = sorted.slice(MAX_GROUPS);
  const count = rest.reduce((sum, tally) => sum + tally.count, 0);
  return [
    ...sorted.slice(0, MAX_GROUPS),
    { signature: othersOf(kind), seen: rest.flatMap((tally) => tally.seen), count },
  ];
}

/** Returns the most frequent destinations; all others are under the empty name. */
function byDestination(samples: readonly FailuresSeen[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { destination, count } of samples) counts.set(destination, (counts.get(destination) ?? 0) + count);
  const sorted = [...counts].sort(
    ([left, of_left], [right, of_right]) => of_right - of_left || (left < right ? -1 : 1),
  );
  const by_destination = new Map(sorted.slice(0, MAX_DESTINATIONS));
  for (const [, count] of sorted.slice(MAX_DESTINATIONS)) by_destination.set('', (by_destination.get('') ?? 0) + count);
  return [...by_destination];
}

function note(
  known: Map<string, KnownGroup>,
  {
    workspace_id,
    kind,
    signature: found,
    seen: samples,
  }: Pick<KnownGroup, 'workspace_id' | 'kind'> & Omit<Tally, 'count'>,
): void {
  const name = `${workspace_id} ${found.id}`;
  for (const { said: reply, first_at, last_at } of samples) {
    const before = known.get(name);
    known.set(name, {
      workspace_id,
      id: found.id,
      kind,
      signature: found.signature,
      code: found.code,
      enhanced_code: found.enhanced_code,
      sample: before && before.last_seen_at >= last_at ? before.sample : reply,
      first_seen_at: before && before.first_seen_at < first_at ? before.first_seen_at : first_at,
      last_seen_at: before && before.last_seen_at > last_at ? before.last_seen_at : last_at,
    });
  }
}
