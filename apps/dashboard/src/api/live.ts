import { useEffect, useRef } from 'react';
import { createStore } from './store.ts';
import { client } from './trpc.ts';

/** An event without its data: tabs refetch what it changed, so that they all show the same. */
export interface News {
  /** The type of an event, such as email.delivered; `resumed` after a gap in which events may have been missed. */
  readonly type: string;
  readonly email_id: string | null;
}

/** Whether this browser is connected to the event stream. */
export const connected = createStore(false);

const listeners = new Set<(news: readonly News[]) => void>();
const PASSED_ON_EVERY_MS = 250;
// With more events in one batch, tabs are told to refetch everything.
const MOST_NEWS = 100;
const resumed: News = { type: 'resumed', email_id: null };

/**
 * Browsers allow six connections to a host over HTTP/1.1, so one tab follows the events and tells the others. It is the
 * one that holds the lock; when it is closed, another gets the lock. A page over plain http has no locks: there every
 * tab follows for itself while it is visible.
 */
export function followNews(workspace_id: string): () => void {
  const ended = new AbortController();
  const channel = new BroadcastChannel(`postrider.live.${workspace_id}`);
  channel.onmessage = ({ data }: MessageEvent<readonly News[] | boolean>) => {
    if (typeof data === 'boolean') connected.set(data);
    else tell(data);
  };
  const pass = (what: readonly News[] | boolean) => {
    if (typeof what === 'boolean') connected.set(what);
    else tell(what);
    channel.postMessage(what);
  };
  if ('locks' in navigator) {
    const { signal } = ended;
    navigator.locks
      .request(`postrider.live.${workspace_id}`, { signal }, () => lead(pass, signal))
      // The wait rejects when it is aborted.
      .catch(() => undefined);
  } else followWhileVisible(ended.signal);
  return () => {
    ended.abort();
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
    void lead((what) => (typeof what === 'boolean' ? connected.set(what) : tell(what)), visible.signal);
  };
  document.addEventListener('visibilitychange', change, { signal });
  signal.addEventListener('abort', () => stop());
  change();
}

/** Follows the events of the workspace until the signal aborts, and passes them on in batches. */
function lead(pass: (what: readonly News[] | boolean) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let batch: News[] = [];
    const timer = setInterval(() => {
      if (batch.length === 0) return;
      pass(batch.length > MOST_NEWS ? [resumed] : batch);
      batch = [];
    }, PASSED_ON_EVERY_MS);
    const subscription = client.live.subscribe(
      { topics: { events: {} } },
      {
        onData(message) {
          // The cast holds because the types of tRPC include the envelope that its client removes.
          const { data } = message as unknown as { readonly data: { readonly topic: string; readonly data: News } };
          if (data.topic === 'events') batch.push({ type: data.data.type, email_id: data.data.email_id });
        },
        onConnectionStateChange: ({ state }) => pass(state === 'pending'),
        onStarted: () => batch.push(resumed),
        onError: () => pass(false),
      },
    );
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      subscription.unsubscribe();
      resolve();
    });
  });
}

function tell(news: readonly News[]): void {
  for (const listener of listeners) listener(news);
}

const REST_MS = 1000;

/** Runs when an event of interest arrives, at most once a second. */
export function useNews(interests: (news: News) => boolean, run: () => void): void {
  const current = useRef({ interests, run });
  current.current = { interests, run };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let again = false;
    const act = () => {
      if (timer !== undefined) {
        again = true;
        return;
      }
      current.current.run();
      timer = setTimeout(() => {
        timer = undefined;
        if (again) {
          again = false;
          act();
        }
      }, REST_MS);
    };
    const listener = (news: readonly News[]) => {
      if (news.some((one) => one.type === 'resumed' || current.current.interests(one))) act();
    };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      clearTimeout(timer);
    };
  }, []);
}
