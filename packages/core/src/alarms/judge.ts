import { newId } from '../fields/ids.ts';
import type { Judge } from '../metrics/index.ts';
import type { Services } from '../operation/context.ts';
import { alarmFacts } from './facts-store.ts';
import { createNotices } from './notices.ts';
import { DATABASE_GONE } from './rules.ts';
import { countActive, openAlarms, saveTurn } from './store.ts';
import { judgeTurn } from './transitions.ts';

const GONE_MS = 60_000;

/** Judges the numbers of the instance: raises and ends alarms in the same commit, and sends their notices after it. */
export function createAlarmJudge(services: Services): Judge & { stop(): Promise<void> } {
  const { clock, log } = services;
  const notices = createNotices(services);
  /** Since when the database does not answer this process, and whether that was told. */
  let gone: { readonly since_ms: number; told: boolean } | null = null;
  const tellGone = (since_ms: number, kind: 'start' | 'end') => {
    const ended_at = kind === 'end' ? new Date(clock.now()) : null;
    const detail = kind === 'end' ? 'The database answers again.' : 'The database has not answered for a minute.';
    const told = { rule: DATABASE_GONE, detail, started_at: new Date(since_ms), ended_at, kind };
    return notices
      .postFromMemory(told)
      .catch((error: unknown) => log.error({ err: error }, 'a notice of alarms could not be sent'));
  };
  return {
    async judge(tx, numbers) {
      const [{ now, open }, facts] = await Promise.all([openAlarms(tx), alarmFacts(tx)]);
      const { changed, dropped } = judgeTurn(now, open, numbers, facts, () => newId('alarm', clock.now()));
      await saveTurn(tx, changed, dropped);
      return { active: await countActive(tx), after: () => notices.sendDue() };
    },
    async answered() {
      const before = gone;
      gone = null;
      if (before?.told) await tellGone(before.since_ms, 'end');
    },
    async failed() {
      gone ??= { since_ms: clock.now(), told: false };
      if (gone.told || clock.now() - gone.since_ms < GONE_MS) return;
      gone.told = true;
      await tellGone(gone.since_ms, 'start');
    },
    stop: () => notices.stop(),
  };
}
