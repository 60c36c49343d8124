// Needs no package: a GraphQL subscription is an HTTP request whose response doesn't end.

export interface Queue {
  readonly name: string;
  readonly ready: number;
  readonly active: number;
  readonly dead: number;
  readonly oldestReadySeconds: number | null;
  readonly paused: { readonly reason: string } | null;
}

export interface Server {
  readonly url: string;
  readonly key: string;
}

const QUEUES = `subscription {
  queueStats { name ready active dead oldestReadySeconds paused { reason } }
}`;
const MAX_WAIT_SECONDS = 60;
const RECONNECT_MS = 2_000;

/** Returns what an operator should look at in a queue; null if nothing. */
export function problemOf({ ready, dead, oldestReadySeconds, paused }: Queue): string | null {
  if (paused !== null) return `paused (${paused.reason}), ${ready} jobs wait`;
  if (oldestReadySeconds !== null && oldestReadySeconds > MAX_WAIT_SECONDS)
    return `the oldest of ${ready} jobs has waited ${Math.round(oldestReadySeconds)} s`;
  if (dead > 0) return `${dead} jobs have no retries left`;
  return null;
}

/** Yields the queues each time Postrider measures them, and reconnects until the signal ends it. */
export async function* watchQueues(server: Server, signal: AbortSignal): AsyncGenerator<readonly Queue[]> {
  while (!signal.aborted) {
    try {
      yield* readStream(server, signal);
    } catch (error) {
      if (signal.aborted) return;
      // A wrong key stays wrong.
      if (error instanceof RejectedError) throw error;
      console.error(`Disconnected: ${error instanceof Error ? error.message : error}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

export class RejectedError extends Error {}

async function* readStream({ url, key }: Server, signal: AbortSignal): AsyncGenerator<readonly Queue[]> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: QUEUES }),
    signal,
  });
  if (response.status >= 500 || response.status === 429) throw new Error(`HTTP ${response.status}`);
  if (!response.ok || !response.body) throw new RejectedError(`HTTP ${response.status}: ${await response.text()}`);
  let buffer = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    const messages = buffer.split('\n\n');
    buffer = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: ?(.+)$/m.exec(message)?.[1];
      if (data === undefined) continue;
      const result = JSON.parse(data) as { data?: { queueStats: Queue[] } | null; errors?: { message: string }[] };
      if (result.errors?.[0]) throw new RejectedError(result.errors[0].message);
      if (result.data) yield result.data.queueStats;
    }
  }
}
