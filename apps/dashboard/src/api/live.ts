import { createStore } from './store.ts';
import { client, type Outputs, queries } from './trpc.ts';

type ChangeType = (Outputs['live'] extends AsyncIterable<infer C> ? C : never)['type'];

/** An event or an action, without its data: tabs fetch again what it changed, so that they all show the same. */
interface Change {
  /** Such as email.delivered or hold.released; `resumed` after a gap in which changes may have been missed. */
  readonly type: ChangeType | 'resumed';
  /** What it changed; null where that is not one thing. */
  readonly id: string | null;
}

type Kind<T = ChangeType> = T extends `${infer Word}.${string}` ? Word : never;

/** Which queries show what a change is about, by the first word of its type. */
const TYPES_BY_KIND: Readonly<Record<Kind, readonly (keyof Outputs)[]>> = {
  alarm: ['alarms', 'ops'],
  api_key: ['apiKeys', 'onboarding'],
  bulk: ['ops', 'emails'],
  delivery: ['deliveries'],
  destination: ['destinations', 'ops'],
  domain: ['domains', 'onboarding', 'overview'],
  email: ['emails', 'captures', 'events', 'onboarding', 'overview'],
  erasure: ['erasures', 'suppressions'],
  hold: ['holds', 'ops', 'emails'],
  job: ['ops'],
  member: ['members', 'people'],
  message: ['emails'],
  operator: ['operators', 'people'],
  plan: ['plans', 'workspaces', 'usage'],
  queue: ['ops'],
  quota: ['usage', 'overview', 'events'],
  restore: ['ops'],
  schedule: ['ops'],
  suppression: ['suppressions', 'emails'],
  user: ['people', 'members'],
  webhook: ['webhooks', 'onboarding', 'overview'],
  workspace: ['workspaces', 'people', 'usage'],
};
/** Whether this browser is connected to the stream. */
export const connected = createStore(false);

const PASSED_ON_EVERY_MS = 100;
// With more changes in one batch, tabs fetch everything again.
const MAX_CHANGES = 100;
const REST_MS = 1000;
/** How often everything is fetched while the stream is away, as behind a proxy that cuts it. */
const AWAY_EVERY_MS = 15_000;
const resumed: Change = { type: 'resumed', id: null };

/** What the tab with the stream passes on: changes, or whether it is connected. */
type ChannelMessage = readonly Change[] | boolean;
/** By which a new tab asks the one with the stream whether it is connected. */
const CONNECTED_QUESTION = 'connected?';

/**
 * Browsers allow six connections to a host over HTTP/1.1, so one tab follows the events and tells the others. It is the
 * one that holds the lock; when it is closed, another gets the lock. A page over plain http has no locks: there every
 * tab follows for itself while it is visible.
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
  const pass = (what: ChannelMessage) => {
    take(what);
    channel.postMessage(what);
  };
  if ('locks' in navigator) {
    const { signal } = abort;
    navigator.locks
      .request(`postrider.live.${workspace_id}`, { signal }, () => {
        leads = true;
        return lead(pass, signal);
      })
      // The wait rejects when it is aborted.
      .catch(() => undefined);
  } else followWhileVisible(abort.signal);
  const away = setInterval(() => connected.get() || tell([resumed]), AWAY_EVERY_MS);
  return () => {
    clearInterval(away);
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

/** Follows the events of the workspace until the signal aborts, and passes them on in batches. */
function lead(pass: (what: ChannelMessage) => void, signal: AbortSignal): Promise<void> {
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

function take(what: ChannelMessage): void {
  if (typeof what === 'boolean') connected.set(what);
  else tell(what);
}

let waiting: Change[] = [];
let resting = false;

/** Fetches again what the changes changed: immediately, and then at most once a second. */
function tell(changes: readonly Change[]): void {
  waiting.push(...changes);
  if (resting || waiting.length === 0) return;
  const batch = waiting;
  waiting = [];
  refresh(batch);
  resting = true;
  setTimeout(() => {
    resting = false;
    tell([]);
  }, REST_MS);
}

/** Queries with the staleTime `static` are left alone: reading content, for one, is an audited action itself. */
function refresh(changes: readonly Change[]): void {
  const ids = new Map<string, Set<string | null>>();
  for (const { type, id } of changes) {
    // What begins otherwise, as a type of a newer server, is shown nowhere.
    const kind = type.slice(0, type.indexOf('.')) as Kind;
    // An email's events are no entries of the audit log.
    for (const name of [...(TYPES_BY_KIND[kind] ?? []), ...(kind === 'email' ? [] : (['audit'] as const))])
      ids.set(name, (ids.get(name) ?? new Set()).add(id));
  }
  const all = changes.some(({ type }) => type === resumed.type);
  void queries.invalidateQueries({
    predicate({ queryKey }) {
      // The key that tRPC makes: the path, and what it is asked for.
      const [path, about] = queryKey as readonly [readonly string[], { type?: string; input?: { id?: string } }?];
      // The rows of a list keep their place; its newest page is another query.
      if (about?.type === 'infinite') return false;
      const changed = ids.get(path[0] ?? '');
      const id = about?.input?.id;
      return all || (changed !== undefined && (id === undefined || changed.has(id) || changed.has(null)));
    },
  });
}
