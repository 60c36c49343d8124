import { createStore } from './store.ts';
import { client, type Outputs, queries } from './trpc.ts';

type ChangeType = (Outputs['live'] extends AsyncIterable<infer C> ? C : never)['type'];

/** An event or action, without its data. Tabs refetch the affected data so that they all show the same state. */
interface Change {
  /** For example, email.delivered or hold.released. `resumed` follows a gap in which changes may have been missed. */
  readonly type: ChangeType | 'resumed';
  /** The ID of the changed object, or null if the change affects more than one. */
  readonly id: string | null;
}

type Kind<T = ChangeType> = T extends `${infer Word}.${string}` ? Word : never;

/** The queries affected by a change, by the first word of its type. */
const TYPES_BY_KIND: Readonly<Record<Kind, readonly (keyof Outputs)[]>> = {
  alarm: ['alarms', 'ops'],
  api_key: ['apiKeys', 'onboarding'],
  bulk: ['ops', 'emails'],
  delivery: ['deliveries'],
  destination: ['destinations', 'ops'],
  transport: ['transports', 'usage', 'overview'],
  domain: ['domains', 'onboarding', 'overview'],
  email: ['emails', 'captures', 'events', 'onboarding', 'overview'],
  erasure: ['erasures', 'suppressions'],
  hold: ['holds', 'ops', 'emails'],
  invitation: ['invitations'],
  job: ['ops'],
  member: ['members', 'people', 'invitations'],
  message: ['emails'],
  operator: ['operators', 'people', 'invitations'],
  plan: ['plans', 'workspaces', 'usage'],
  queue: ['ops'],
  quota: ['usage', 'overview', 'events'],
  restore: ['ops'],
  schedule: ['ops'],
  suppression: ['suppressions', 'emails'],
  sign_in_policy: ['people'],
  user: ['people', 'members'],
  webhook: ['webhooks', 'onboarding', 'overview'],
  workspace: ['workspaces', 'people', 'usage'],
};
/** Whether this browser is connected to the stream. */
export const connected = createStore(false);

const PASSED_ON_EVERY_MS = 100;
// The maximum number of changes in a batch. If there are more, tabs refetch everything.
const MAX_CHANGES = 100;
const REST_MS = 1000;
/** How often everything is refetched while the stream is down, for example behind a proxy that cuts it. */
const AWAY_EVERY_MS = 15_000;
const resumed: Change = { type: 'resumed', id: null };

/** A broadcast from the tab with the stream: changes, or whether it is connected. */
type ChannelMessage = readonly Change[] | boolean;
/** Sent by a new tab to ask the tab with the stream whether it is connected. */
const CONNECTED_QUESTION = 'connected?';

/**
 * Follows the workspace's events. Browsers allow six HTTP/1.1 connections per host, so one tab follows the events and
 * notifies the others. That tab holds a lock, which another tab acquires when the first is closed. Locks are
 * unavailable over plain http, where each tab therefore follows on its own while it is visible.
 */
export function followChanges(workspace_id: string): () => void {
  const abort = new AbortController();
  const channel = new BroadcastChannel(`postrider.live.${workspace_id}`);
  let leads = false;
  channel.onmessage = ({ data }: MessageEvent<ChannelMessage | typeof CONNECTED_QUESTION>) => {
    if (data === CONNECTED_QUESTION) {
      if (leads) channel.postMessage(connected.get());
    } else take(data);
  };
  channel.postMessage(CONNECTED_QUESTION);
  const pass = (message: ChannelMessage) => {
    take(message);
    channel.postMessage(message);
  };
  if ('locks' in navigator) {
    const { signal } = abort;
    navigator.locks
      .request(`postrider.live.${workspace_id}`, { signal }, () => {
        leads = true;
        return lead(pass, signal);
      })
      // Aborting rejects the pending lock request.
      .catch(() => undefined);
  } else followWhileVisible(abort.signal);
  const idle_timer = setInterval(() => connected.get() || queueChanges([resumed]), AWAY_EVERY_MS);
  return () => {
    clearInterval(idle_timer);
    abort.abort();
    channel.close();
  };
}

function followWhileVisible(signal: AbortSignal): void {
  let stop = () => {};
  const change = () => {
    stop();
    if (document.visibilityState === 'hidden') return;
    const visible = new AbortController();
    stop = () => visible.abort();
    void lead(take, visible.signal);
  };
  document.addEventListener('visibilitychange', change, { signal });
  signal.addEventListener('abort', () => stop());
  change();
}

/** Follows the workspace's events until the signal aborts, and broadcasts them in batches. */
function lead(pass: (message: ChannelMessage) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let batch: Change[] = [];
    const timer = setInterval(() => {
      if (batch.length === 0) return;
      pass(batch.length > MAX_CHANGES ? [resumed] : batch);
      batch = [];
    }, PASSED_ON_EVERY_MS);
    const subscription = client.live.subscribe(undefined, {
      onData: (change) => batch.push(change),
      onConnectionStateChange: ({ state }) => pass(state === 'pending'),
      onStarted: () => batch.push(resumed),
      onError: () => pass(false),
    });
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      subscription.unsubscribe();
      resolve();
    });
  });
}

function take(message: ChannelMessage): void {
  if (typeof message === 'boolean') connected.set(message);
  else queueChanges(message);
}

let waiting: Change[] = [];
let resting = false;

/** Refetches the data that the changes affect: immediately, and then at most once a second. */
function queueChanges(changes: readonly Change[]): void {
  waiting.push(...changes);
  if (resting || waiting.length === 0) return;
  const batch = waiting;
  waiting = [];
  refresh(batch);
  resting = true;
  setTimeout(() => {
    resting = false;
    queueChanges([]);
  }, REST_MS);
}

/**
 * Refetches the queries that the changes affect, except those with a `static` staleTime. Reading content, for example,
 * is itself an audited action.
 */
function refresh(changes: readonly Change[]): void {
  const ids = new Map<string, Set<string | null>>();
  for (const { type, id } of changes) {
    // Any other prefix, such as a type from a newer server, affects no query.
    const kind = type.slice(0, type.indexOf('.')) as Kind;
    // Email events are not written to the audit log.
    for (const name of [...(TYPES_BY_KIND[kind] ?? []), ...(kind === 'email' ? [] : (['audit'] as const))])
      ids.set(name, (ids.get(name) ?? new Set()).add(id));
  }
  const all = changes.some(({ type }) => type === resumed.type);
  void queries.invalidateQueries({
    predicate({ queryKey }) {
      // A tRPC query key: the path, and the query type and input.
      const [path, about] = queryKey as readonly [readonly string[], { type?: string; input?: { id?: string } }?];
      // List rows keep their place. A separate query loads the newest page.
      if (about?.type === 'infinite') return false;
      const changed = ids.get(path[0] ?? '');
      const id = about?.input?.id;
      return all || (changed !== undefined && (id === undefined || changed.has(id) || changed.has(null)));
    },
  });
}
