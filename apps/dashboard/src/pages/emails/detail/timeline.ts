import type { Attempt, Email } from './email.ts';

export type PhaseName = keyof Attempt['phases_ms'];

export interface Step {
  readonly key: string;
  readonly kind: 'accepted' | 'wait' | 'attempt' | 'end';
  readonly from_ms: number;
  readonly to_ms: number;
  readonly attempt: Attempt | null;
  /** Whether a later attempt for the same recipient supersedes this step. */
  readonly dimmed: boolean;
}

export interface Timeline {
  readonly steps: readonly Step[];
  readonly omitted: number;
  /** Returns the position of a time on the axis, from 0 to 1. */
  readonly at: (ms: number) => number;
  /** Whether idle time is drawn shorter than to scale. */
  readonly compressed: boolean;
}

const MAX_ATTEMPTS = 12;
// Each idle period takes up at most this share of the active time on the axis.
const IDLE_SHARE = 0.35;
const MIN_MS = 4;

export const phaseNames: readonly PhaseName[] = ['connect', 'tls', 'mail', 'data'];

/** Lays out the steps of an email on one time axis. */
export function timelineOf(email: Email, now_ms: number): Timeline {
  const started_ms = Date.parse(email.created_at);
  const attempts = email.attempts.toSorted((left, right) => left.started_at.localeCompare(right.started_at));
  const recent = attempts.slice(-MAX_ATTEMPTS);
  const last = new Map(attempts.map((one) => [one.recipient_id, one.id]));
  const first = attempts[0];
  const waits_until = first ? Date.parse(first.started_at) : now_ms;
  const steps: Step[] = [
    { key: 'accepted', kind: 'accepted', from_ms: started_ms, to_ms: started_ms, attempt: null, dimmed: false },
    {
      key: 'wait',
      kind: 'wait',
      from_ms: started_ms,
      to_ms: Math.max(started_ms, waits_until),
      attempt: null,
      dimmed: false,
    },
    ...recent.map(
      (attempt): Step => ({
        key: attempt.id,
        kind: 'attempt',
        from_ms: Date.parse(attempt.started_at),
        to_ms: Math.max(Date.parse(attempt.finished_at), Date.parse(attempt.started_at) + MIN_MS),
        attempt,
        dimmed: last.get(attempt.recipient_id) !== attempt.id,
      }),
    ),
  ];
  return { steps, omitted: attempts.length - recent.length, ...axisOf(steps) };
}

function axisOf(steps: readonly Step[]): Pick<Timeline, 'at' | 'compressed'> {
  const busy = steps.filter(({ kind }) => kind === 'attempt');
  const edges = [...new Set(steps.flatMap(({ from_ms, to_ms }) => [from_ms, to_ms]))].sort((a, b) => a - b);
  const isBusy = (from: number, to: number) => busy.some(({ from_ms, to_ms }) => from_ms <= from && to_ms >= to);
  const spans = edges.slice(1).map((to, index) => {
    const from = edges[index] ?? to;
    return { from, to, busy: isBusy(from, to), length: to - from };
  });
  const worked = spans.reduce((sum, { busy: works, length }) => sum + (works ? length : 0), 0);
  const max_idle = worked === 0 ? Number.POSITIVE_INFINITY : Math.max(MIN_MS, worked * IDLE_SHARE);
  const bars = spans.map((one) => ({ ...one, length: one.busy ? one.length : Math.min(one.length, max_idle) }));
  const total = bars.reduce((sum, { length }) => sum + length, 0) || 1;
  const at = (ms: number) => {
    let before = 0;
    for (const { from, to, length } of bars) {
      if (ms >= to) before += length;
      else if (ms > from) before += (length * (ms - from)) / (to - from);
    }
    return Math.min(1, before / total);
  };
  return { at, compressed: bars.some(({ length }, index) => length < (spans[index]?.length ?? 0)) };
}
