import { newId } from '../fields/ids.ts';
import type { Judge } from '../metrics/index.ts';
import type { Services } from '../operation/context.ts';
import { alarmFacts } from './facts-store.ts';
import { dropNotices } from './notice-store.ts';
import { createNotices } from './notices.ts';
import { DATABASE_GONE, DATABASE_GONE_SECONDS, spanOf } from './rules.ts';
import { countAlarms, noteOutage, openAlarms, saveTurn } from './store.ts';
import { judgeTurn } from './transitions.ts';

const GONE_MS = DATABASE_GONE_SECONDS * 1000;

/** A period in which the database did not respond to this process, and whether its start was reported. */
interface Outage {
  readonly since_ms: number;
  until_ms: number | null;
  reported: boolean;
}

export interface AlarmJudge extends Judge {
  /** Resolves once no notice is being sent. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Judges the numbers of the instance: raises and ends alarms in the same commit, then sends their notices. */
export function createAlarmJudge(services: Services): AlarmJudge {
  const { sql, clock, log, metrics } = services;
  const notices = createNotices(services);
  let outage: Outage | null = null;
  /** Returns whether the receivers accepted the report; in quiet hours they get it later. */
  const report = async ({ since_ms, until_ms }: Outage): Promise<boolean> => {
    const ended_at = until_ms === null ? null : new Date(until_ms);
    const detail = ended_at
      ? 'The database responds again.'
      : `The database has not responded for ${spanOf(DATABASE_GONE_SECONDS)}.`;
    const kind = ended_at ? 'end' : 'start';
    try {
      return await notices.postFromMemory({
        rule: DATABASE_GONE,
        detail,
        started_at: new Date(since_ms),
        ended_at,
        kind,
      });
    } catch (error) {
      log.error({ err: error }, 'failed to send an alert');
      return false;
    }
  };
  return {
    async judge(tx, numbers) {
      // Drops expired notices before the turn, so that a reminder does not renew a notice that has waited for a day.
      const expired = await dropNotices(tx);
      const [{ now, open }, facts] = await Promise.all([openAlarms(tx), alarmFacts(tx)]);
      const { changed, dropped } = judgeTurn(now, open, numbers, facts, () => newId('alarm', clock.now()));
      await saveTurn(tx, changed, dropped);
      const dropped_notices = [...expired, ...(await dropNotices(tx))];
      return {
        ...(await countAlarms(tx)),
        async after() {
          for (const { reason, count } of dropped_notices)
            metrics.count('alarm_notices_dropped_total', [reason], count);
          await notices.sendDue();
        },
      };
    },
    async answered() {
      await notices.remember();
      if (!outage) return;
      outage.until_ms ??= clock.now();
      const { since_ms, until_ms, reported } = outage;
      if (until_ms - since_ms >= GONE_MS) {
        const id = newId('alarm', clock.now());
        await noteOutage(sql, { id, rule: DATABASE_GONE, since: new Date(since_ms), until: new Date(until_ms) });
      }
      if (!reported || (await report(outage))) outage = null;
    },
    async failed() {
      if (outage?.until_ms != null) outage = null;
      outage ??= { since_ms: clock.now(), until_ms: null, reported: false };
      if (outage.reported || clock.now() - outage.since_ms < GONE_MS) return;
      outage.reported = await report(outage);
    },
    idle: () => notices.idle(),
    stop: () => notices.stop(),
  };
}
