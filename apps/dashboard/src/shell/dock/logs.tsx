import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { type Column, List } from '../../parts/list.tsx';
import { QueryView } from '../../parts/states.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { words } from './strings.ts';

type Event = Outputs['events']['list']['data'][number];
type Request = Outputs['requests']['list']['data'][number];
type Delivery = Outputs['deliveries']['listAll']['data'][number];

const MAX_EVENTS = 30;

export function EventLog() {
  const events = useQuery(trpc.events.list.queryOptions({ limit: MAX_EVENTS }));
  return (
    <QueryView query={events}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">{words.empty.events}</p>
        ) : (
          <List
            label={words.tabs.events}
            columns={eventColumns}
            rows={data}
            idOf={({ id }) => id}
            nameOf={({ type }) => type}
          />
        )
      }
    </QueryView>
  );
}

const eventColumns: readonly Column<Event>[] = [
  { name: words.columns.at, width: 'fit', show: ({ created_at }) => <RelativeTime at={created_at} /> },
  { name: words.columns.type, width: '30%', show: ({ type }) => <strong className="mono small">{type}</strong> },
  {
    name: words.columns.about,
    show: ({ email_id }) =>
      email_id && (
        <Link className="mono small" to="/emails/$id" params={{ id: email_id }}>
          {email_id}
        </Link>
      ),
  },
];

export function RequestLog() {
  const requests = useQuery(trpc.requests.list.queryOptions({ limit: MAX_EVENTS }));
  return (
    <QueryView query={requests}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">{words.empty.requests}</p>
        ) : (
          <List
            label={words.tabs.requests}
            columns={requestColumns}
            rows={data}
            idOf={({ id }) => id}
            nameOf={({ reason }) => reason}
          />
        )
      }
    </QueryView>
  );
}

const requestColumns: readonly Column<Request>[] = [
  { name: words.columns.at, width: 'fit', show: ({ at }) => <RelativeTime at={at} /> },
  {
    name: words.columns.reason,
    width: '30%',
    show: ({ id, status, reason }) => (
      <Link className="row-link mono" to="/logs" search={{ open: id }}>
        {status} {reason}
      </Link>
    ),
  },
  {
    name: words.columns.route,
    show: ({ method, path }) => (
      <span className="mono small">
        {method} {path}
      </span>
    ),
  },
];

export function WebhookLog() {
  const deliveries = useQuery(trpc.deliveries.listAll.queryOptions({ limit: MAX_EVENTS }));
  return (
    <QueryView query={deliveries}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="muted">{words.empty.webhooks}</p>
        ) : (
          <List
            label={words.tabs.webhooks}
            columns={deliveryColumns}
            rows={data}
            idOf={({ id }) => id}
            nameOf={({ event_type }) => event_type}
          />
        )
      }
    </QueryView>
  );
}

const deliveryColumns: readonly Column<Delivery>[] = [
  { name: words.columns.at, width: 'fit', show: ({ created_at }) => <RelativeTime at={created_at} /> },
  {
    name: words.columns.type,
    width: '30%',
    show: ({ webhook_id, event_type }) => (
      <Link className="row-link mono" to="/webhooks/$id" params={{ id: webhook_id }}>
        {event_type}
      </Link>
    ),
  },
  { name: words.columns.state, width: 'fit', show: ({ status }) => <span className="chip">{status}</span> },
  { name: words.columns.answer, show: (row) => row.response_status ?? row.error ?? '–' },
];
