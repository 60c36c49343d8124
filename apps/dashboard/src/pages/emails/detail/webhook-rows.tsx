import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { may, useMe } from '../../../api/me.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Panel } from '../../../parts/page.tsx';
import { spanMs } from '../../../parts/times.tsx';
import { DeliveryBadge } from '../../webhooks/delivery-badge.tsx';
import type { Email } from './email.ts';
import { words } from './strings.ts';

type Delivery = Outputs['deliveries']['ofEvents'][number][number];

/** One page of events; an email with more has many recipients. */
const MAX_EVENTS = 100;

/** Shows which webhooks were notified of the email's events, and how they responded. */
export function WebhookRows({ email }: { readonly email: Email }) {
  const allowed = may(useMe(), 'webhooks:manage');
  const events = email.events.slice(-MAX_EVENTS);
  const ids = events.map(({ id }) => id);
  const deliveries = useQuery(
    trpc.deliveries.ofEvents.queryOptions({ ids }, { enabled: allowed && ids.length > 0 }),
  ).data?.flat();
  if (!deliveries || deliveries.length === 0) return null;
  return (
    <Panel title={words.webhooks.title}>
      <ol className="stack-s">
        {deliveries.map((delivery) => (
          <WebhookRow key={delivery.id} delivery={delivery} accepted_ms={Date.parse(email.created_at)} />
        ))}
      </ol>
    </Panel>
  );
}

function WebhookRow({ delivery, accepted_ms }: { readonly delivery: Delivery; readonly accepted_ms: number }) {
  const { id, webhook_id, event_type, status, response_status, duration_ms, created_at, error } = delivery;
  return (
    <li className="line spread">
      <span className="line">
        <Link to="/webhooks/$id" params={{ id: webhook_id }} search={{ delivery: id }} className="mono">
          {event_type}
        </Link>
        <DeliveryBadge status={status} />
        <span className="muted small">{response_status ?? error}</span>
      </span>
      <span className="muted small num">
        {`+${spanMs(Math.max(0, Date.parse(created_at) - accepted_ms))}`}
        {duration_ms !== null && ` · ${words.webhooks.took(spanMs(duration_ms))}`}
      </span>
    </li>
  );
}
