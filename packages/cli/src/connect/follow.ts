import { setTimeout as sleep } from 'node:timers/promises';
import type { ListCall } from '@postrider/sdk';
import { problemOf } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The number of entries on one page of a followed list. */
export const FOLLOW_PAGE = 100;
// Enough ids to recognize every entry of the next page.
const MAX_IDS = 10 * FOLLOW_PAGE;
const POLL_MS = 500;

/** Returns a signal that aborts on Ctrl-C. */
export function interruption(): AbortSignal {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  return abort.signal;
}

/** Returns whether the whole pause elapsed without the signal aborting. */
export async function paused(seconds: number, signal: AbortSignal): Promise<boolean> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

interface Follower<T> {
  readonly seconds: number;
  /** Receives the newest page before the list is followed. */
  begin(newest: readonly T[]): void;
  /** Receives every later entry once, oldest first. */
  each(entry: T, signal: AbortSignal): Promise<void> | void;
}

/** Polls a list, newest first, until Ctrl-C. */
export async function follow<T extends { readonly id: string }>(
  terminal: Terminal,
  list: () => ListCall<T>,
  { seconds, begin, each }: Follower<T>,
): Promise<void> {
  const signal = interruption();
  const { data: newest } = await list();
  begin(newest);
  const floor = newest[0]?.id ?? '';
  let known: ReadonlySet<string> = new Set(newest.map(({ id }) => id));
  while (await paused(seconds, signal)) {
    try {
      const fresh: T[] = [];
      const ids = new Set(known);
      // Ids sort by time, but entries are not committed in that order: an entry may appear after a newer one, so every
      // id is compared.
      for await (const { data } of list().pages()) {
        const unknown = data.filter(({ id }) => id > floor && !known.has(id));
        fresh.push(...unknown);
        for (const { id } of data) ids.add(id);
        if (unknown.length < data.length) break;
      }
      known = new Set([...ids].sort().slice(-MAX_IDS));
      for (const entry of fresh.reverse()) await each(entry, signal);
    } catch (error) {
      const problem = problemOf(error);
      if (!problem?.facts.passing) throw error;
      terminal.note(`${problem.facts.reason}: ${problem.message} Retrying.`);
    }
  }
}

/** Polls an operation of the service until it has finished. */
export async function endOf<T>(
  initial: T,
  steps: { isOpen(state: T): boolean; show(state: T): void; read(): Promise<T> },
): Promise<T> {
  let state = initial;
  while (steps.isOpen(state)) {
    steps.show(state);
    await sleep(POLL_MS);
    state = await steps.read();
  }
  return state;
}
