import type { Check } from './check.ts';
import { atMost, check } from './check.ts';
import type { Ledgers, WorkerKill } from './ledgers.ts';
import type { Plan } from './plans.ts';

/** The time within which a service must recover if the machine's speed is not judged. */
const ALLOWANCE_S = 60;

/**
 * Checks how soon delivery resumed after each kill and requests succeeded after each outage, and that the faults were
 * injected as planned.
 */
export function recoveryChecks(ledgers: Ledgers, plan: Plan): Check[] {
  const { kills, faults, lives, splits } = ledgers;
  const takeovers = kills.map((kill) => ({ kill, seconds: takeoverSeconds(ledgers, kill) }));
  const outages = faults
    .filter(({ of: target }) => target === 'database')
    .map(({ what: name, ended_at }) => ({
      what: name,
      seconds: ((ledgers.accepted.find((at) => at >= ended_at) ?? Number.POSITIVE_INFINITY) - ended_at) / 1000,
    }));
  const close = kills.filter(({ since_last_kill_ms, start_ms }) => (since_last_kill_ms ?? Infinity) < 2 * start_ms);
  const checks = [
    check(
      'kills of one slot within twice its start time',
      close.map(({ slot }) => slot),
    ),
    check(
      'processes that exited unexpectedly',
      lives.filter(({ end }) => end === 'unplanned').map(({ slot, pid }) => `${slot} ${pid}`),
    ),
    // Without a takeover there would be no late result, which is the point of the fault.
    check(
      'frozen workers without a takeover',
      splits
        .filter(({ held, left }) => held === 0 || left > 0)
        .map(({ slot, held, left }) => `${slot}, ${left} of ${held} jobs`),
    ),
  ];
  if (plan.speed)
    checks.push(
      check(
        'kills while no email was being sent',
        kills.filter(({ messages_per_second }) => messages_per_second === 0).map(({ slot }) => slot),
      ),
    );
  if (kills.length > 0)
    checks.push(
      atMost(
        'seconds until the email of a killed worker was taken over',
        Math.max(...takeovers.map(({ seconds }) => seconds)),
        plan.speed?.takeover ?? ALLOWANCE_S,
        takeovers
          .filter(({ seconds }) => seconds > (plan.speed?.takeover ?? ALLOWANCE_S))
          .map(({ kill, seconds }) => `${kill.slot}, ${kill.held} jobs, ${seconds.toFixed(1)} s`),
      ),
    );
  if (outages.length > 0)
    checks.push(
      atMost(
        'seconds from the return of the database to the first 202',
        Math.max(...outages.map(({ seconds }) => seconds)),
        plan.speed?.first_accept ?? ALLOWANCE_S,
        outages.map(({ what: name, seconds }) => `${name} ${seconds.toFixed(1)} s`),
      ),
    );
  return checks;
}

/** Returns how long a takeover took, excluding the time when no worker was available to take over. */
function takeoverSeconds({ lives }: Ledgers, { at, taken_over_at, held }: WorkerKill): number {
  if (held === 0) return 0;
  if (taken_over_at === null) return Number.POSITIVE_INFINITY;
  const uptimes = lives
    .flatMap(({ slot, ready_at, ended_at }) =>
      slot.startsWith('worker') && ready_at !== null ? [{ from: ready_at, to: ended_at ?? taken_over_at }] : [],
    )
    .map(({ from, to }) => ({ from: Math.max(from, at), to: Math.min(to, taken_over_at) }))
    .filter(({ from, to }) => to > from)
    .sort((left, right) => left.from - right.from);
  let covered = 0;
  let upto = at;
  for (const { from, to } of uptimes) {
    covered += Math.max(0, to - Math.max(from, upto));
    upto = Math.max(upto, to);
  }
  return covered / 1000;
}
