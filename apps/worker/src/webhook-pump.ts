import type { Services } from '@postrider/core';
import {
  beginVisits,
  type ClaimedPost,
  claimPosts,
  renewVisits,
  type SettledPost,
  sendPost,
  settlePosts,
  switchedOff,
  WEBHOOK_LEASE_SECONDS,
} from '@postrider/core/webhooks';
import type { HttpGuard } from '@postrider/mail';
import { createEndpointLanes, type LeftVisit } from './endpoint-lanes.ts';
import type { HoldKeeper } from './hold-keeper.ts';
import { every } from './schedules.ts';
import type { WorkBook } from './work-book.ts';

export interface WebhookPump {
  stop(): Promise<void>;
}

// Jobs fetched at a time; there may be many for one endpoint.
const FETCH_COUNT = 200;
// Claimed here at a time, over all endpoints, and how many of those are visited.
const MOST_HELD = 1200;
const MOST_VISITS = 150;
// Whoever records events wakes the workers, if only by what follows from the mail; this is the floor under that.
const POLL_MS = 500;
// Every accept of a mail is a wake, whether anybody listens or not: looks that find nothing become rarer, down to this.
const FIRST_QUIET_MS = 3;
const QUIET_MS = 50;
const RENEW_MS = 3000;
const TOUCH_EVERY = 3;
const SETTLE_COUNT = 200;
const SETTLE_MS = 15;
const MOST_SETTLES = 12;
// A post takes up to 10 s and its record a while: what could not begin by then is somebody else's.
const BEGIN_WITHIN_MS = (WEBHOOK_LEASE_SECONDS - 18) * 1000;
// SIGTERM leaves 15 s for everything: posts may end by themselves, then they are cut and handed back.
const CUT_MS = 5000;
const GIVE_UP_MS = 8000;

interface Waiting {
  readonly post: ClaimedPost;
  readonly claimed_at: number;
}

/**
 * Moves webhooks: fetch → visit → claim → lane → post → settle. A job says only that an endpoint is owed something, and
 * is held while this worker visits it. An endpoint that hangs holds its own few places and no more.
 */
export function startWebhookPump(
  services: Services,
  http: HttpGuard,
  holds: HoldKeeper,
  book: Pick<WorkBook, 'concurrency' | 'note' | 'keep'> | null = null,
): WebhookPump {
  const lanes = createEndpointLanes<Waiting>(() => performance.now());
  const finished: SettledPost[] = [];
  const cut = new AbortController();
  let fetching: Promise<void> | null = null;
  let again = false;
  let quiet_ms = 0;
  let quiet_until = 0;
  let claiming: Promise<void> | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  let settleTimer: NodeJS.Timeout | null = null;
  let settling = 0;
  let stopped = false;
  let given_up = false;

  const pollIn = (wait_ms: number) => {
    if (pollTimer) clearTimeout(pollTimer);
    pollTimer = setTimeout(look, wait_ms);
  };

  const poll = () => {
    if (stopped) return;
    if (fetching) {
      again = true;
      return;
    }
    const early = quiet_until - performance.now();
    if (early > 0) {
      pollIn(early);
      return;
    }
    again = false;
    fetching = fetch()
      .catch((error) => {
        services.log.error({ err: error }, 'webhooks could not be fetched');
        return false;
      })
      .then((more) => {
        fetching = null;
        if (stopped) return;
        if (more || again) poll();
        else pollIn(POLL_MS);
      });
  };

  /** What another worker was called for while this one visits: his call has ended, and ours goes on. */
  const look = () => {
    lanes.look();
    claimSoon();
    poll();
  };

  const isPaused = () => holds.isPaused('webhook.deliver');
  /** What an operator has set, where that is less. */
  const most = () => Math.min(MOST_VISITS, book?.concurrency('webhook.deliver') ?? MOST_VISITS);

  const full = () => lanes.held() >= MOST_HELD || lanes.visits().length >= most();

  /** Whether there may be more than was fetched. */
  const fetch = async (): Promise<boolean> => {
    await holds.ready;
    if (full() || isPaused()) return false;
    const count = Math.min(FETCH_COUNT, most());
    const jobs = await services.jobs.fetch('webhook.deliver', count);
    if (jobs.length === 0) {
      quiet_ms = Math.min(QUIET_MS, Math.max(FIRST_QUIET_MS, quiet_ms * 2));
      quiet_until = performance.now() + quiet_ms;
      return false;
    }
    quiet_ms = 0;
    const mine = lanes.visits().map(({ holder }) => holder);
    const { visits, others } = await beginVisits(services, jobs, mine);
    for (const visit of visits) lanes.begin(visit);
    for (const id of others) lanes.look(id);
    claimSoon();
    return jobs.length === count;
  };

  /** One claim at a time. */
  const claimSoon = () => {
    if (claiming || stopped) return;
    const rooms = isPaused() ? [] : lanes.ask(MOST_HELD - lanes.held());
    if (rooms.length === 0) {
      settleSoon();
      return;
    }
    claiming = claim(rooms)
      .catch((error) => services.log.error({ err: error }, 'webhooks could not be claimed'))
      .then(() => {
        claiming = null;
        if (lanes.hungry()) claimSoon();
      });
  };

  /** An endpoint that goes on after a hold takes no more than its rate leaves. */
  const metered = async (rooms: ReturnType<typeof lanes.ask>) => {
    const slow = rooms.filter(({ webhook_id }) => holds.isMetered(webhook_id) || holds.isHeld(webhook_id));
    if (slow.length === 0) return rooms;
    const left = new Map<string, number>();
    for (const { webhook_id, count } of slow) left.set(webhook_id, await holds.take(webhook_id, count));
    return rooms.map((room) => ({ ...room, count: left.get(room.webhook_id) ?? room.count }));
  };

  const claim = async (rooms: ReturnType<typeof lanes.ask>) => {
    const claimed_at = performance.now();
    const unanswered = new Map(rooms.map((room) => [room.webhook_id, room.count]));
    try {
      const { posts, refused } = await claimPosts(services, await metered(rooms));
      for (const [id, group] of Map.groupBy([...posts, ...refused], ({ row }) => row.webhook_id)) {
        const waiting = group.flatMap((one) => ('signer' in one ? [{ post: one, claimed_at }] : []));
        lanes.claimed(id, waiting, group.length, unanswered.get(id) ?? group.length);
        unanswered.delete(id);
        startPosts(id);
      }
      handIn(refused);
    } finally {
      for (const [id, count] of unanswered) lanes.claimed(id, [], 0, count);
      settleSoon();
    }
  };

  const startPosts = (webhook_id: string) => {
    if (stopped) return;
    for (const waiting of lanes.start(webhook_id)) void post(waiting);
  };

  const post = async ({ post, claimed_at }: Waiting) => {
    const began = performance.now();
    const late = began - claimed_at > BEGIN_WITHIN_MS;
    const result: SettledPost = late
      ? { row: post.row, lease: post.lease, outcome: null }
      : await sendPost(services, http, post, cut.signal);
    const { outcome } = result;
    const taken = outcome?.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
    if (outcome !== null) {
      book?.note('webhook.deliver', {
        wait_ms: null,
        run_ms: performance.now() - began,
        failed: !taken,
        finished: taken,
      });
    }
    handIn([result]);
    handBack(lanes.ended(post.row.webhook_id, taken || outcome === null));
    startPosts(post.row.webhook_id);
  };

  const handBack = (dropped: readonly Waiting[]) => {
    handIn(dropped.map(({ post: { row, lease } }) => ({ row, lease, outcome: null })));
  };

  const handIn = (results: readonly SettledPost[]) => {
    if (results.length === 0) return;
    finished.push(...results);
    if (finished.length >= SETTLE_COUNT) settleNow();
    else settleSoon();
  };

  const settleSoon = () => {
    settleTimer ??= setTimeout(settleNow, SETTLE_MS);
  };

  const settleNow = () => {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const batch = finished.splice(0);
    const counts = new Map(
      [...Map.groupBy(batch, ({ row }) => row.webhook_id)].map(([id, { length }]) => [id, length]),
    );
    const left = lanes.leave(counts);
    if (batch.length + left.length === 0) return;
    const was_full = full() || left.length > 0;
    settling += 1;
    void settle(batch, left).then(() => {
      settling -= 1;
      for (const { row } of batch) lanes.settled(row.webhook_id);
      if (lanes.hungry()) claimSoon();
      if (was_full && !full()) poll();
    });
  };

  /** Outlives a restart of the database; what cannot be recorded in time is posted again, under the same id. */
  const settle = async (batch: readonly SettledPost[], left: readonly LeftVisit[]): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await settlePosts(services, batch, left);
        return;
      } catch (error) {
        services.log.error({ err: error, count: batch.length, attempt }, 'results of webhooks could not be recorded');
        if (attempt >= MOST_SETTLES || given_up) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 50 * 2 ** attempt)));
      }
    }
  };

  /** Somebody has switched an endpoint off: what waits here for it is not posted any more. */
  const dropClosed = async () => {
    const ids = lanes.ids();
    if (ids.length === 0) return;
    try {
      for (const id of await switchedOff(services.sql, ids)) handBack(lanes.drop(id));
    } catch (error) {
      services.log.error({ err: error }, 'endpoints could not be looked up');
    }
  };

  /** What waits here and is held now is handed back, without an attempt. */
  const onHolds = () => {
    for (const id of lanes.ids()) if (isPaused() || holds.isHeld(id)) handBack(lanes.drop(id));
    look();
  };

  let renewals = 0;
  const renewer = every(
    RENEW_MS,
    async () => {
      const visits = lanes.visits();
      if (visits.length === 0) return;
      const kept = await renewVisits(services.sql, visits);
      for (const visit of visits) if (!kept.has(visit.webhook_id)) lanes.lose(visit);
      renewals += 1;
      if (renewals % TOUCH_EVERY > 0) return;
      const jobs = lanes.visits().map(({ job_id, retry_count }) => ({ id: job_id, retry_count }));
      await services.jobs.touch('webhook.deliver', jobs);
    },
    services,
  );

  book?.keep('webhook.deliver', {
    held: () => ({ active: lanes.visits().length, job_ids: lanes.visits().map(({ job_id }) => job_id) }),
    changed: poll,
  });
  holds.onChange(() => {
    if (!stopped) onHolds();
  });
  const unsubscribes = [
    services.jobs.onWake('webhook.deliver', poll),
    // Mail that was accepted is an event too, and whoever accepts does not know who listens.
    services.jobs.onWake('delivery.attempt', poll),
    services.jobs.onWake('webhook.close', () => void dropClosed()),
  ];
  poll();

  return {
    async stop() {
      stopped = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
      if (pollTimer) clearTimeout(pollTimer);
      const deadlines = [
        setTimeout(() => cut.abort(), CUT_MS),
        setTimeout(() => {
          given_up = true;
        }, GIVE_UP_MS),
      ];
      lanes.close();
      await fetching;
      await claiming;
      for (const id of lanes.ids()) handBack(lanes.drop(id));
      while ((lanes.held() > 0 || lanes.visits().length > 0 || settling > 0) && !given_up) {
        settleNow();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
      for (const deadline of deadlines) clearTimeout(deadline);
      if (settleTimer) clearTimeout(settleTimer);
      await renewer.stop();
    },
  };
}
