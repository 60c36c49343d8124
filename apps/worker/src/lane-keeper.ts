import type { Services } from '@postrider/core';
import { lastResponse, type Mailers } from '@postrider/core/delivery';
import {
  closeLane,
  countAgainstLimits,
  type DestinationLimit,
  destinationLimits,
  type Fetched,
  forgetClosings,
  isRoom,
  LANES_IN_A_LOOK,
  type LaneNews,
  laneNews,
  parkDeliveries,
  type Resumed,
  resumeParked,
  type Slice,
  tendLanes,
  WORKSPACES_IN_A_SLICE,
} from '@postrider/core/lanes';
import { isSimulatorLane, type SendOutcome } from '@postrider/mail';
import type { HoldKeeper } from './hold-keeper.ts';
import { type Candidate, type LaneLimit, type Lanes, NO_LANE } from './lanes.ts';
import { every } from './schedules.ts';

const LOOK_MS = 1000;
const MOST_IN_A_SLICE = 200;
const NOBODY = {
  lane: NO_LANE,
  email: '',
  mode: 'live',
  from_domain: '',
  api_key_id: null,
  due_at: new Date(0),
  resumed: false,
} as const;

type Mail = Pick<Candidate, 'job' | 'email' | 'mode' | 'from_domain' | 'api_key_id'>;

export interface LaneKeeper {
  /**
   * Finds the lanes of fetched jobs; those that cannot wait here are parked. Answers how many of these belong to fast
   * lanes, and might as well have stayed in the queue.
   */
  place(fetched: readonly Fetched[]): Promise<number>;
  /** Of those about to be claimed, who is within the limits of the destinations that have any. */
  grant(candidates: readonly Candidate[]): Promise<Candidate[]>;
  /** An attempt is over; null where it tells nothing of the other side. */
  done(lane: string, workspace_id: string, outcome: SendOutcome | null): void;
  /** Takes parked mail back for lanes that could do with more. */
  refill(): void;
  /** The room that keeps a mail back now, where a hold does. */
  heldIn(candidate: Candidate): string | null;
  /** Holds have changed: who waits here may belong elsewhere. */
  sortAnew(): void;
  /** Parks who waits here, for other workers or the next start. */
  stop(): Promise<void>;
}

/**
 * Keeps the lanes of this worker in step with what all workers share: parks and takes back, tells of lanes that
 * close, hears of those that others have closed, and of limits. What fails here is left to the heartbeats of the
 * jobs and the next look.
 */
export function createLaneKeeper(
  services: Services,
  mailers: Mailers,
  lanes: Lanes,
  holds: HoldKeeper,
  onReady: () => void,
): LaneKeeper {
  const { sql, log } = services;
  /** The workspace that was served last in a lane, where the last slice did not reach the end. */
  const served = new Map<string, string>();
  /** Lanes whose closing is not in the database yet, or came there after the look that is under way. */
  const closing = new Map<string, Promise<void>>();
  let limits: ReadonlyMap<string, LaneLimit> = new Map();
  let fingerprint = '';
  /** Where the next look begins, when there were more lanes than one look takes. */
  let looked = '';
  /** Rooms that are being left at a rate, with how many may leave now. */
  const going = new Map<string, number>();
  let refilling: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  const heldIn = ({ job, mode, email, from_domain, api_key_id }: Mail): string | null => {
    const lane = mode === 'sandbox' ? null : mailers[mode].laneOf(email);
    return holds.roomOf({ workspace_id: job.data.workspace_id, from_domain, api_key_id, email, lane });
  };

  const laneOf = (mail: Mail): string => {
    const { mode, email } = mail;
    const room = heldIn(mail);
    if (room !== null) return room;
    const name = mailers[mode].laneOf(email);
    if (mode === 'sandbox') return `sandbox ${name}`;
    const domain = email.slice(email.lastIndexOf('@') + 1);
    return limits.has(domain) ? domain : name;
  };

  /** Lets jobs wait here, but for those that a hold keeps back; returns who must wait elsewhere. */
  const admit = (candidates: readonly Candidate[]): Candidate[] => {
    if (holds.isPaused('delivery.attempt')) return [...candidates];
    const held = candidates.filter(({ lane }) => isRoom(lane));
    if (held.length === 0) return lanes.admit(candidates);
    return [...held, ...lanes.admit(candidates.filter(({ lane }) => !isRoom(lane)))];
  };

  /** Finds lanes anew for who waits here. */
  const sortAnew = () => {
    const moved = lanes.empty().map((candidate) => ({
      ...candidate,
      lane: candidate.lane === NO_LANE ? NO_LANE : laneOf(candidate),
      resumed: true,
    }));
    parkSoon(admit(moved));
  };

  const park = async (candidates: readonly Candidate[]): Promise<void> => {
    // Who has nothing to send has no lane to wait for: left alone, its job comes back by its heartbeat.
    const parked = candidates.filter(({ lane }) => lane !== NO_LANE);
    if (parked.length === 0) return;
    for (const { lane } of parked) lanes.setBacklog(lane, true);
    await parkDeliveries(
      services,
      parked.map(({ job, lane, due_at }) => ({ ...job.data, job, lane, due_at })),
    );
  };
  const parkSoon = (candidates: readonly Candidate[]) => {
    park(candidates).catch((error) => log.error({ err: error, count: candidates.length }, 'mail could not be parked'));
  };

  const tellClosed = (lane: string, told: Parameters<typeof closeLane>[1]) => {
    log.warn({ lane, seconds: told.seconds, reply: told.last_reply }, 'a lane was closed for a while');
    const writing = closeLane(sql, told)
      .catch((error) => log.error({ err: error, lane }, 'a closed lane could not be told to the other workers'))
      .finally(() => {
        if (closing.get(lane) === writing) closing.delete(lane);
      });
    closing.set(lane, writing);
  };

  const look = async () => {
    const busy = new Set(closing.keys());
    const [rows, found] = await Promise.all([tendLanes(sql, looked), destinationLimits(sql)]);
    const workers = found.length > 0 ? await services.jobs.workerCount() : 1;
    const parked = rows.flatMap((row) => (row.parked ? [row.lane] : []));
    looked = parked.length < LANES_IN_A_LOOK ? '' : (parked.sort().at(-1) ?? '');
    const closed = new Set<string>();
    const told = new Map(rows.map((row) => [row.lane, row]));
    for (const row of rows) {
      if (row.closed) closed.add(row.lane);
      if (row.closed && row.reason && !lanes.isClosed(row.lane))
        parkSoon(lanes.close(row.lane, row.reason, row.closings));
      if (row.parked) lanes.setBacklog(row.lane, true);
    }
    // What closed here while this look was under way is not in it.
    for (const lane of lanes.closed()) {
      if (!closed.has(lane) && !busy.has(lane) && !closing.has(lane)) lanes.open(lane, told.get(lane)?.closings ?? 0);
    }
    setLimits(found, workers);
    parkSoon(lanes.trim());
    refill();
    onReady();
  };

  const setLimits = (found: readonly DestinationLimit[], workers: number) => {
    const next = JSON.stringify([found, workers]);
    if (next === fingerprint) return;
    fingerprint = next;
    // Each worker has its share of the connections, and at least one.
    limits = new Map(
      found.map(({ destination, connections, messages_per_minute }) => [
        destination,
        {
          connections: connections === null ? null : Math.max(1, Math.floor(connections / workers)),
          messages_per_minute,
        },
      ]),
    );
    lanes.setLimits(limits);
    // A domain that is limited now is a lane of its own, and one that is no longer goes with its neighbours again.
    sortAnew();
  };

  const refill = () => {
    if (stopped || holds.isPaused('delivery.attempt')) return;
    if (refilling) {
      again = true;
      return;
    }
    again = false;
    refilling = resume()
      .catch((error) => log.error({ err: error }, 'parked mail could not be taken back'))
      .then(() => {
        refilling = null;
        if (again) refill();
      });
  };

  const resume = async () => {
    const short = lanes.shortages().filter(({ lane }) => !holds.guards(lane));
    const slices = [
      ...short.map(({ lane, count }) => ({ lane, count: Math.min(count, MOST_IN_A_SLICE) })),
      ...[...going].map(([lane, count]) => ({ lane, count })),
    ].map((slice) => ({ ...slice, after: served.get(slice.lane) ?? '' }));
    going.clear();
    if (slices.length === 0) return;
    const rows = Map.groupBy(await resumeParked(services, slices), (row) => row.lane);
    for (const slice of slices) noteTaken(slice, rows.get(slice.lane) ?? []);
    const candidates = [...rows.values()].flat().map((row): Candidate => {
      const { job_id, workspace_id, message_id, recipient_id, email, mode, from_domain, api_key_id, due_at } = row;
      const job = { id: job_id, retry_count: 0, data: { workspace_id, message_id, recipient_id } };
      const mail = { job, email, mode, from_domain, api_key_id };
      return { ...mail, lane: laneOf(mail), due_at, resumed: true };
    });
    await park(admit(candidates));
    onReady();
  };

  /** Where to go on in a lane, and who has nothing parked there any more, for all that a slice tells. */
  const noteTaken = ({ lane, count, after }: Slice, rows: readonly Resumed[]) => {
    const taken = Map.groupBy(rows, (row) => row.workspace_id);
    const last = [...taken.keys()].sort().at(-1);
    const whole = taken.size < WORKSPACES_IN_A_SLICE;
    if (whole || last === undefined) served.delete(lane);
    else served.set(lane, last);
    const share = Math.ceil(count / Math.max(1, taken.size));
    let left = 0;
    for (const [workspace_id, own] of taken) {
      if (own.length < share) lanes.drained(lane, workspace_id);
      else left += 1;
    }
    if (whole && after === '' && left === 0) lanes.setBacklog(lane, false);
  };

  holds.onResume((room, count) => {
    going.set(room, (going.get(room) ?? 0) + count);
    refill();
  });

  const looker = every(LOOK_MS, look, services);
  // Before anything is fetched, so that a lane which others have closed, or what somebody holds, is not tried first.
  const first = Promise.all([holds.ready, look()]).catch((error) =>
    log.error({ err: error }, 'the lanes could not be looked at'),
  );

  return {
    async place(fetched) {
      await first;
      const candidates = fetched.map(({ job, addressee }): Candidate => {
        if (!addressee) return { ...NOBODY, job };
        const { email, mode, from_domain, api_key_id, due_at } = addressee;
        const mail = { job, email, mode, from_domain, api_key_id };
        return { ...mail, lane: laneOf(mail), due_at, resumed: false };
      });
      const parked = admit(candidates);
      await park(parked);
      return parked.filter(({ lane }) => !isRoom(lane) && lanes.isFast(lane)).length;
    },
    async grant(candidates) {
      const limited = candidates.filter(({ lane }) => limits.get(lane)?.messages_per_minute != null);
      if (limited.length === 0) return [...candidates];
      const wanted = Map.groupBy(limited, ({ lane }) => lane);
      const granted = await countAgainstLimits(
        sql,
        [...wanted].map(([destination, { length: count }]) => ({ destination, count })),
      );
      const refused = [...wanted].flatMap(([lane, asked]) => asked.slice(granted.get(lane) ?? asked.length));
      for (const { lane, job } of refused) lanes.giveBack(lane, job.data.workspace_id);
      const left = [...new Set(refused.map(({ lane }) => lane))].flatMap((lane) => lanes.close(lane, 'limit', 0));
      parkSoon([...refused, ...left]);
      const out = new Set(refused);
      return candidates.filter((candidate) => !out.has(candidate));
    },
    done(lane, workspace_id, outcome) {
      const { closed, recovered } = lanes.done(lane, workspace_id, outcome && newsOf(lane, outcome));
      if (closed && outcome) {
        const { seconds, closings, left } = closed;
        tellClosed(lane, { lane, seconds, closings, last_reply: lastResponse(outcome) });
        parkSoon(left);
      }
      if (recovered) {
        forgetClosings(sql, lane).catch((error) =>
          log.error({ err: error, lane }, 'a lane could not be told to be well'),
        );
      }
    },
    refill,
    heldIn,
    sortAnew,
    async stop() {
      stopped = true;
      await looker.stop();
      await first;
      await refilling;
      await park(lanes.empty());
    },
  };
}

/** One who tries how a script fails must not close its lane for all others who try it. */
function newsOf(lane: string, outcome: SendOutcome): LaneNews | null {
  const news = laneNews(outcome);
  return isSimulatorLane(lane) && news !== null && news !== 'taken' ? 'answered' : news;
}
