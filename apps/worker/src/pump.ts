import type { Services } from '@postrider/core';
import {
  attemptDelivery,
  type Claimed,
  claimDeliveries,
  type Mailers,
  renewLeases,
  type Settled,
  settleDeliveries,
  showAttempts,
  unansweredDelivery,
  unsentDelivery,
  withoutWords,
} from '@postrider/core/delivery';
import { type Fetched, fetchDeliveries, MOST_CAP } from '@postrider/core/lanes';
import type { SendOutcome } from '@postrider/mail';
import type { HoldKeeper } from './hold-keeper.ts';
import { createLaneKeeper } from './lane-keeper.ts';
import { type Candidate, createLanes, NO_LANE } from './lanes.ts';
import { type Leased, leaseEnd, outOfLease } from './leases.ts';
import { createMakeAhead, type Waiting } from './make-ahead.ts';
import { createRoster, type Seated } from './roster.ts';
import { every } from './schedules.ts';
import { createSettlePace, SETTLE_MS } from './settle-pace.ts';
import { createTurns } from './turns.ts';
import type { WorkBook } from './work-book.ts';
import { createWorkerNote } from './worker-note.ts';

// Fetch up to 200 while fewer than 600 are claimed or wait for it here.
const FETCH_COUNT = 200;
const MOST_IN_FLIGHT = 600;
// When fast lanes have as much as they can take, the rest may stay in the queue; but others stand behind it there,
// who are looked for this often.
const LOOK_AHEAD_MS = 100;
// Where all mail goes one way, as to a relay, hardly anybody stands there. Who is found there has to be parked.
const LOOK_AHEAD_ALONE_MS = 500;
const LOOK_AHEAD_ALONE_COUNT = 50;
// A large mail takes several times its size while it is read, composed and sent.
const MOST_LARGE = 4;
// Enough to keep every thread that signs busy while the connections of a few lanes are.
const MADE_AHEAD = 128;
const MOST_SETTLES = 30;
// Wakes are hints, and none is sent for jobs that become due later: this is the floor under them.
const POLL_MS = 500;
/** Retries, and what was scheduled, are found by the looks at all jobs, and those are at most so far apart. */
const LOOK_AT_ALL_MS = 400;
const RENEW_MS = 10_000;
// Attempts that take longer than this are shown in the status of their messages before they end.
const SHOW_MS = 250;
const LEASE_LOOK_MS = 1000;
// SIGTERM leaves 15 s for everything. First sends may end by themselves; then those before the dot are handed
// back; then those past it are recorded as unknown; at last a database that does not answer is given up.
const HAND_BACK_MS = 5000;
const UNANSWERED_MS = 6000;
const GIVE_UP_MS = 8000;

export interface Pump {
  stop(): Promise<void>;
}

interface InFlight extends Seated, Leased {
  readonly claimed: Claimed;
  readonly lane: string;
  /** What it was claimed as; null where nobody knows any more. */
  readonly candidate: Candidate | null;
  /** Infinity until it has its place in the lane. */
  started: number;
  readonly abort: AbortController;
  lease_ends: number;
  /** It has come to a connection. */
  begun: boolean;
  sent: boolean;
  shown: boolean;
  /** Its place among those that are made ahead. */
  waiting: Waiting | null;
  /** The bytes, from when they were made ahead until they are sent. */
  made: Promise<unknown> | null;
}

interface Finished {
  readonly entry: InFlight;
  readonly result: Settled;
}

/** Moves deliveries: fetch → lane → claim → send → settle. A batch never waits for its slowest member. */
export function startDeliveryPump(
  services: Services,
  mailers: Mailers,
  holds: HoldKeeper,
  book: Pick<WorkBook, 'concurrency' | 'note' | 'keep'> | null = null,
): Pump {
  const inFlight = createRoster<InFlight>();
  const finished: Finished[] = [];
  let settleTimer: NodeJS.Timeout | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  let fetching: Promise<void> | null = null;
  let again = false;
  let crowded_until = 0;
  let crowded_by = 0;
  let newest: Date | null = null;
  let looked_at = Number.NEGATIVE_INFINITY;
  let claiming: Promise<void> | null = null;
  let claimAgain = false;
  let stopped = false;
  let given_up = false;
  // Apart, because a script of the simulator may keep its turns for minutes.
  const largeTurns = { live: createTurns(MOST_LARGE), sandbox: createTurns(1) };
  const makeAhead = createMakeAhead(MADE_AHEAD);
  const widthOf = (lane: string) => mailers[lane.startsWith('sandbox ') ? 'sandbox' : 'live'].width ?? MOST_CAP;
  const lanes = createLanes(() => performance.now(), widthOf);
  const note = createWorkerNote(services);
  const keeper = createLaneKeeper(services, mailers, lanes, holds, () => claimSoon());
  const isPaused = () => holds.isPaused('delivery.attempt');
  /** How many may be claimed just now, where the queue goes on at a rate after a hold. */
  const allowance = () => holds.allowance('delivery.attempt') ?? Number.POSITIVE_INFINITY;

  const poll = () => {
    if (stopped) return;
    if (fetching || isCrowded()) {
      again = true;
      return;
    }
    if (pollTimer) clearTimeout(pollTimer);
    pollTimer = null;
    again = false;
    fetching = fetchOnce()
      .catch((error) => {
        services.log.error({ err: error }, 'deliveries could not be fetched');
        return false;
      })
      .then((more) => {
        fetching = null;
        again ||= more;
        if (stopped) return;
        if (again && (lanes.aloneRoom() ? isRoomy() : room() > 0)) poll();
        if (!fetching) pollTimer ??= setTimeout(poll, again ? lookAhead().ms : POLL_MS);
      });
  };

  const lookAhead = () =>
    lanes.isAlone()
      ? { ms: LOOK_AHEAD_ALONE_MS, count: LOOK_AHEAD_ALONE_COUNT }
      : { ms: LOOK_AHEAD_MS, count: FETCH_COUNT };

  /** Until it is time to look ahead, or half of those who wait here have gone. */
  const isCrowded = () => performance.now() < crowded_until && lanes.counts().waiting * 2 > crowded_by;

  /** What an operator has set, where that is less. */
  const most = () => Math.min(MOST_IN_FLIGHT, book?.concurrency('delivery.attempt') ?? MOST_IN_FLIGHT);

  const settlePace = createSettlePace(most);

  /** How many more may be claimed or wait for it here; those that are being recorded still count. */
  const room = () => {
    const { held, waiting } = lanes.counts();
    const free = MOST_IN_FLIGHT - Math.max(held, inFlight.size) - waiting;
    return Math.min(free, lanes.aloneRoom()?.free ?? free);
  };

  /** Enough of it for a fetch that is worth its while. */
  const isRoomy = () => room() > Math.min(FETCH_COUNT, lanes.aloneRoom()?.most ?? FETCH_COUNT) / 2;

  /**
   * The time after which a fetch need only look, or null for a look at all that is ready. A job that was fetched leaves
   * a dead entry in the index until that is cleaned, so a busy queue would walk past more and more of them.
   */
  const newOnly = () => {
    const now = performance.now();
    if (newest && now - looked_at < LOOK_AT_ALL_MS) return newest;
    looked_at = now;
    return null;
  };

  /** A whole look that found more than it took goes on from there, however old that is. */
  const noteFound = (found: readonly Fetched[], looked_at_all: boolean, is_all: boolean) => {
    if (looked_at_all && !is_all) newest = null;
    for (const { created_on } of found) if (!newest || created_on > newest) newest = created_on;
  };

  /** Whether there may be more than was taken. */
  const fetchOnce = async (): Promise<boolean> => {
    await holds.ready;
    if (isPaused()) return false;
    // What a rate lets through waits here already; more of it is told by onAllowance.
    if (lanes.counts().waiting > allowance() + FETCH_COUNT) return false;
    if (Math.max(lanes.counts().held, inFlight.size) >= MOST_IN_FLIGHT) return true;
    const free = room();
    const count = free > 0 ? Math.min(FETCH_COUNT, free) : lookAhead().count;
    const made_after = newOnly();
    const found = await fetchDeliveries(services, count, made_after);
    if (found.length === 0) return false;
    noteFound(found, made_after === null, found.length < count);
    const crowding = await keeper.place(found);
    if (crowding > found.length / 4) {
      crowded_until = performance.now() + lookAhead().ms - 1;
      crowded_by = lanes.counts().waiting;
    }
    claimSoon();
    return found.length === count;
  };

  /** One claim at a time; what comes meanwhile is in the next. */
  const claimSoon = () => {
    if (stopped || isPaused()) return;
    if (claiming) {
      claimAgain = true;
      return;
    }
    const free = Math.max(0, most() - inFlight.size);
    const batch = lanes.take(Math.min(FETCH_COUNT, free, allowance()));
    if (batch.length === 0) return;
    holds.spend('delivery.attempt', batch.length);
    claimAgain = false;
    claiming = claim(batch)
      .catch((error) => {
        services.log.error({ err: error }, 'deliveries could not be claimed');
      })
      .then(() => {
        claiming = null;
        keeper.refill();
        if (claimAgain) claimSoon();
        if (again && isRoomy()) poll();
      });
  };

  const claim = async (batch: readonly Candidate[]) => {
    let left: readonly Candidate[] = batch;
    try {
      left = await keeper.grant(batch);
      const byJob = new Map(left.map((candidate) => [candidate.job.id, candidate]));
      const asked = performance.now();
      const won = await claimDeliveries(
        services,
        left.map(({ job }) => job),
      );
      for (const claimed of won) enter(claimed, byJob.get(claimed.job.id) ?? null, asked);
      const entered = new Set(won.map(({ job }) => job.id));
      left = left.filter(({ job }) => !entered.has(job.id));
    } finally {
      for (const { lane, job } of left) lanes.giveBack(lane, job.data.workspace_id);
    }
  };

  const enter = (claimed: Claimed, candidate: Candidate | null, asked: number) => {
    const entry: InFlight = {
      claimed,
      lane: candidate?.lane ?? NO_LANE,
      candidate,
      started: Number.POSITIVE_INFINITY,
      abort: new AbortController(),
      lease_ends: leaseEnd(asked),
      begun: false,
      sent: false,
      shown: false,
      waiting: null,
      made: null,
      seat: -1,
    };
    inFlight.add(entry);
    if (isHeld(entry)) cancel(entry);
    else entry.waiting = makeAhead(claimed.content);
    const run = () => {
      entry.made = entry.waiting?.take() ?? null;
      if (entry.sent) leave(entry, null);
      else void send(entry);
    };
    lanes.start(entry.lane, {
      workspace_id: claimed.delivery.workspace_id,
      run,
      refuse: () => handBack(entry),
    });
  };

  /** Before its turn has come. */
  const handBack = (entry: InFlight) => {
    entry.waiting?.take();
    if (!entry.sent) finish(entry, unsentDelivery(entry.claimed));
  };

  /** Nothing more of it goes out, unless it is past the dot. */
  const cancel = (entry: InFlight) => {
    entry.abort.abort();
    if (entry.started === Number.POSITIVE_INFINITY) handBack(entry);
  };

  const isHeld = ({ candidate }: InFlight): boolean =>
    isPaused() || (candidate !== null && keeper.heldIn(candidate) !== null);

  /** Who waits for a claim, or after it for a place or a connection, and is held now, does not go out. */
  const onHolds = () => {
    keeper.sortAnew();
    for (const entry of inFlight) {
      if (!entry.sent && !entry.begun && isHeld(entry)) cancel(entry);
    }
    poll();
    claimSoon();
    keeper.refill();
  };

  const leave = (entry: InFlight, outcome: SendOutcome | null) => {
    keeper.done(entry.lane, entry.claimed.delivery.workspace_id, outcome);
    claimSoon();
  };

  const send = async (entry: InFlight) => {
    const { claimed, abort } = entry;
    entry.started = performance.now();
    const due_at = entry.lane === NO_LANE ? null : (entry.candidate?.due_at ?? null);
    const wait_ms = due_at && Math.max(0, services.clock.now() - due_at.getTime());
    const begun = () => {
      entry.begun = true;
    };
    const attempt = () => attemptDelivery(services, mailers, claimed, abort.signal, begun);
    const result = claimed.content.large ? await largeTurns[claimed.delivery.mode](attempt) : await attempt();
    entry.made = null;
    const { kind, reply } = result.outcome;
    const handed_back = abort.signal.aborted && kind === 'deferred' && reply === null;
    leave(entry, handed_back ? null : result.outcome);
    if (!handed_back) {
      const failed = kind === 'deferred';
      book?.note('delivery.attempt', { wait_ms, run_ms: result.duration_ms, failed, finished: !failed });
    }
    if (!entry.sent) finish(entry, { ...result, handed_back });
  };

  const finish = (entry: InFlight, result: Settled) => {
    entry.sent = true;
    finished.push({ entry, result });
    settleIn(settlePace.came(finished.length));
  };

  /** A wait that has begun is not begun anew. */
  const settleIn = (wait_ms: number | null) => {
    if (wait_ms === 0) settleNow();
    else if (wait_ms !== null) settleTimer ??= setTimeout(settleNow, wait_ms);
  };

  const settleNow = () => {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const batch = finished.splice(0);
    if (batch.length === 0) return;
    settlePace.begun(batch.length);
    // Nobody waits for a batch that has failed: it is tried again beside the others.
    let awaited = true;
    const onTried = () => {
      if (!awaited) return;
      awaited = false;
      settleIn(settlePace.ended(finished.length));
    };
    const results = batch.map(({ result }) => result);
    void settle(results, onTried).then(() => {
      onTried();
      for (const { entry } of batch) inFlight.remove(entry);
      claimSoon();
      // Room has come free, and what filled it may wait for it.
      if (again && isRoomy()) poll();
    });
  };

  /**
   * Outlives a restart of the database; what cannot be recorded in time is found again by its lease. A result
   * that the database refuses for what it says is found by halving, and recorded without the other side's words:
   * left alone, it and its neighbours would be sent again at the end of every lease.
   */
  const settle = async (results: readonly Settled[], onTried: () => void, attempts = 0): Promise<void> => {
    let batch = results;
    for (let attempt = attempts + 1; ; attempt++) {
      try {
        await settleDeliveries(services, batch);
        // Their events may be owed to endpoints.
        services.jobs.ring('webhook.deliver');
        note.ended(batch.length);
        return;
      } catch (error) {
        onTried();
        services.log.error({ err: error, count: batch.length, attempt }, 'results of deliveries could not be recorded');
        if (attempt >= MOST_SETTLES || given_up) return;
        if (attempt >= 3 && isRefused(error)) {
          if (batch.length > 1) {
            const middle = batch.length >> 1;
            const halves = [batch.slice(0, middle), batch.slice(middle)];
            await Promise.all(halves.map((half) => settle(half, onTried, attempt)));
            return;
          }
          batch = batch.map(withoutWords);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 50 * 2 ** attempt)));
      }
    }
  };

  const renewer = every(
    RENEW_MS,
    async () => {
      const held = [...inFlight];
      const waiting = lanes.waiting().map(({ job }) => job);
      if (held.length + waiting.length === 0) return;
      const asked = performance.now();
      const kept = await renewLeases(
        services.sql,
        held.map(({ claimed: { delivery, lease } }) => ({
          workspace_id: delivery.workspace_id,
          message_id: delivery.message_id,
          recipient_id: delivery.recipient_id,
          lease,
        })),
      );
      // Whoever lost the lease must not reach the dot: another worker may be sending the same copy. A renewal
      // was done at its beginning, for all that is known.
      for (const entry of held) {
        if (entry.sent) continue;
        if (!kept.has(entry.claimed.lease)) cancel(entry);
        else entry.lease_ends = leaseEnd(asked);
      }
      await services.jobs.touch('delivery.attempt', [...held.map(({ claimed }) => claimed.job), ...waiting]);
    },
    services,
  );

  // By itself, and not with what asks the database, which may be what does not answer.
  const leaseLooker = setInterval(() => {
    for (const entry of outOfLease(inFlight, performance.now())) cancel(entry);
  }, LEASE_LOOK_MS);

  const shower = every(
    SHOW_MS,
    async () => {
      const now = performance.now();
      const lasting = [...inFlight].filter((entry) => !entry.sent && !entry.shown && now - entry.started >= SHOW_MS);
      if (lasting.length === 0) return;
      for (const entry of lasting) entry.shown = true;
      await showAttempts(
        services.sql,
        lasting.map(({ claimed }) => claimed.job.data),
      );
    },
    services,
  );

  book?.keep('delivery.attempt', {
    held: () => ({ active: inFlight.size, job_ids: [] }),
    changed: () => claimSoon(),
  });
  const unsubscribe = services.jobs.onWake('delivery.attempt', poll);
  holds.onChange(() => {
    if (!stopped) onHolds();
  });
  holds.onAllowance(() => {
    if (stopped) return;
    poll();
    claimSoon();
  });
  poll();

  return {
    async stop() {
      stopped = true;
      unsubscribe();
      if (pollTimer) clearTimeout(pollTimer);
      const deadlines = [
        setTimeout(() => {
          for (const entry of inFlight) cancel(entry);
        }, HAND_BACK_MS),
        setTimeout(() => {
          for (const entry of inFlight) {
            if (!entry.sent) finish(entry, unansweredDelivery(entry.claimed, performance.now() - entry.started));
          }
        }, UNANSWERED_MS),
        setTimeout(() => {
          given_up = true;
        }, GIVE_UP_MS),
      ];
      let parked = false;
      const park = async () => {
        await fetching;
        await claiming;
        await keeper.stop();
      };
      void park()
        .catch((error) => services.log.error({ err: error }, 'who waited for a lane could not be parked'))
        .then(() => {
          parked = true;
        });
      while ((!parked || inFlight.size > 0) && !given_up) {
        settleNow();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
      for (const deadline of deadlines) clearTimeout(deadline);
      clearInterval(leaseLooker);
      await renewer.stop();
      await shower.stop();
      await note.stop();
    },
  };
}

/** SQLSTATE classes 22 and 23: the data is at fault, and would be tomorrow too. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && error.name === 'PostgresError' && 'code' in error && /^2[23]/.test(String(error.code))
  );
}
