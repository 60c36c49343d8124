import { Link } from '@tanstack/react-router';
import { may, useMe } from '../../api/me.ts';
import type { Outputs } from '../../api/trpc.ts';
import { ExactTime, RelativeTime } from '../../parts/times.tsx';
import { words } from './strings.ts';

type Pending = Pick<Outputs['deliveries']['get'], 'next_attempt_at' | 'waiting'>;

/** Says when a pending delivery is attempted next, or what keeps it from that; empty once it has ended. */
export function NextAttempt({ delivery: { next_attempt_at, waiting } }: { readonly delivery: Pending }) {
  const me = useMe();
  const text = words.waiting;
  if (next_attempt_at === null) return null;
  switch (waiting?.reason) {
    case undefined:
      return (
        <>
          {text.next} <RelativeTime at={next_attempt_at} upcoming />
        </>
      );
    case 'endpoint_disabled':
      return text.disabled;
    case 'endpoint_paused':
      return (
        <>
          {text.paused} <RelativeTime at={waiting.until ?? next_attempt_at} upcoming />
        </>
      );
    case 'hold':
    case 'queue_paused': {
      const { until, hold_id, reason } = waiting;
      const phrase =
        until === null ? (
          text.held
        ) : (
          <>
            {text.heldUntil} <ExactTime at={until} />
          </>
        );
      if (!may(me, 'admin') || hold_id === null) return phrase;
      const search = reason === 'hold' ? { release: hold_id } : {};
      return (
        <Link to="/delivery/holds" search={search}>
          {phrase}
        </Link>
      );
    }
  }
}
