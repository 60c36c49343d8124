import type { Services } from '@postrider/core';
import {
  type ClaimedPost,
  claimPosts,
  type SettledPost,
  sendPost,
  settlePosts,
  switchedOff,
  WEBHOOK_LEASE_SECONDS,
} from '@postrider/core/webhooks';
import type { HttpGuard } from '@postrider/mail';
import { createEndpointLanes } from './endpoint-lanes.ts';

export interface WebhookPump {
  stop(): Promise<void>;
}

// Claimed here at a time, over all endpoints.
const MOST_HELD = 1200;
const MOST_ENDPOINTS = 150;
// What is owed is found by looking: its commit sends no word, so that accepting costs the same with webhooks as
// without. One look over an empty line costs the database a fraction of a millisecond.
const POLL_MS = 100;
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

/** Moves webhooks: claim → lane → post → settle. An endpoint that hangs holds its own few places and no more. */
export function startWebhookPump(services: Services, http: HttpGuard): WebhookPump {
  const lanes = createEndpointLanes<Waiting>(() => performance.now());
  const finished: SettledPost[] = [];
  const cut = new AbortController();
  let after = '';
  let claiming: Promise<void> | null = null;
  let again = false;
  let pollTimer: NodeJS.Timeout | null = null;
  let settleTimer: NodeJS.Timeout | null = null;
  let stopped = false;
  let given_up = false;

  const poll = () => {
    if (stopped) return;
    if (claiming) {
      again = true;
      return;
    }
    if (pollTimer) clearTimeout(pollTimer);
    again = false;
    claiming = claim()
      .catch((error) => {
        services.log.error({ err: error }, 'webhooks could not be claimed');
        return false;
      })
      .then((more) => {
        claiming = null;
        if (stopped) return;
        if (more || again) poll();
        else pollTimer = setTimeout(poll, POLL_MS);
      });
  };

  /** Whether there are endpoints that it had no time to look at. */
  const claim = async (): Promise<boolean> => {
    const free = MOST_HELD - lanes.held();
    const { count, rooms } = lanes.rooms(free);
    const endpoints = Math.min(MOST_ENDPOINTS, Math.floor(free / count));
    if (endpoints <= 0) return false;
    const claimed_at = performance.now();
    const { posts, refused, last } = await claimPosts(services, { after, endpoints, count, rooms });
    after = last;
    const asked = new Map(rooms.map((room) => [room.webhook_id, room.count]));
    for (const [id, group] of Map.groupBy([...posts, ...refused], ({ row }) => row.webhook_id)) {
      const waiting = group.flatMap((one) => ('signer' in one ? [{ post: one, claimed_at }] : []));
      lanes.claimed(id, waiting, group.length, asked.get(id) ?? count);
    }
    handIn(refused);
    startPosts();
    return last !== '';
  };

  const startPosts = () => {
    for (const waiting of lanes.start()) void post(waiting);
  };

  const post = async ({ post, claimed_at }: Waiting) => {
    const late = performance.now() - claimed_at > BEGIN_WITHIN_MS;
    const result: SettledPost = late
      ? { row: post.row, lease: post.lease, outcome: null }
      : await sendPost(services, http, post, cut.signal);
    const { outcome } = result;
    const taken = outcome?.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
    handIn([result]);
    handBack(lanes.ended(post.row.webhook_id, taken || outcome === null));
    startPosts();
  };

  const handBack = (dropped: readonly Waiting[]) => {
    handIn(dropped.map(({ post: { row, lease } }) => ({ row, lease, outcome: null })));
  };

  const handIn = (results: readonly SettledPost[]) => {
    if (results.length === 0) return;
    finished.push(...results);
    if (finished.length >= SETTLE_COUNT) settleNow();
    else settleTimer ??= setTimeout(settleNow, SETTLE_MS);
  };

  const settleNow = () => {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const batch = finished.splice(0);
    if (batch.length === 0) return;
    void settle(batch).then(() => {
      for (const { row } of batch) lanes.settled(row.webhook_id);
      if (lanes.hungry()) poll();
    });
  };

  /** Outlives a restart of the database; what cannot be recorded in time is posted again, under the same id. */
  const settle = async (batch: readonly SettledPost[]): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await settlePosts(services, batch);
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

  const unsubscribes = [
    services.jobs.onWake('webhook.recover', poll),
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
      await claiming;
      for (const id of lanes.ids()) handBack(lanes.drop(id));
      while (lanes.held() > 0 && !given_up) {
        settleNow();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
      for (const deadline of deadlines) clearTimeout(deadline);
    },
  };
}
