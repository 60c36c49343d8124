import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import type { Column } from '../../parts/list.tsx';
import { ErrorPanel, QueryView } from '../../parts/states.tsx';
import { RelativeTime, spanMs } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import { DeliveryBadge } from './delivery-badge.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { NextAttempt } from './next-attempt.tsx';
import { words } from './strings.ts';
import type { Subject } from './use-subjects.ts';

type Delivery = Outputs['deliveries']['list']['data'][number];

const { type, subject, state, status, attempts, at, took } = words.detail.columns;

export const columnsWith = (subjects: ReadonlyMap<string, Subject>): readonly Column<Delivery>[] => [
  {
    name: type,
    show: (row) => (
      <Link
        className="row-link mono small"
        from="/webhooks/$id"
        search={({ status: filter }) => ({ ...(filter && { status: filter }), delivery: row.id })}
      >
        {row.event_type}
      </Link>
    ),
  },
  {
    name: subject,
    width: '22%',
    less: 'unless-wide',
    show: ({ event_id }) => <SubjectLink subject={subjects.get(event_id)} />,
  },
  {
    name: state,
    width: '28%',
    wraps: true,
    show: (row) => (
      <>
        <DeliveryBadge status={row.status} />{' '}
        {row.status === 'pending' && (
          <span className="muted small">
            <NextAttempt delivery={row} />
          </span>
        )}
      </>
    ),
  },
  {
    name: status,
    width: '14%',
    show: (row) => <span title={row.error ?? ''}>{row.response_status ?? row.error ?? '–'}</span>,
  },
  { name: attempts, width: 'fit', end: true, less: true, show: (row) => <span className="num">{row.attempts}</span> },
  {
    name: took,
    width: 'fit',
    end: true,
    less: true,
    show: ({ duration_ms }) => (duration_ms === null ? '–' : spanMs(duration_ms)),
  },
  { name: at, width: 'fit', show: ({ created_at }) => <RelativeTime at={created_at} /> },
];

function SubjectLink({ subject: email }: { readonly subject: Subject | undefined }) {
  if (!email) return null;
  return (
    <Link to="/emails/$id" params={{ id: email.id }} title={email.to.join(', ')}>
      {email.subject || email.to[0]}
    </Link>
  );
}

interface DeliveryDrawerProps {
  readonly webhook_id: string;
  readonly id: string;
  readonly onClose: () => void;
}

export function DeliveryDrawer({ webhook_id, id, onClose }: DeliveryDrawerProps) {
  const delivery = useQuery(trpc.deliveries.get.queryOptions({ id: webhook_id, delivery_id: id }));
  const replay = useMutation(
    trpc.deliveries.replay.mutationOptions({ onSuccess: () => toast(words.delivery.replayed) }),
  );
  return (
    <Drawer title={delivery.data?.event_type ?? words.detail.deliveries} onClose={onClose}>
      {replay.error !== null && <ErrorPanel error={replay.error} />}
      <QueryView query={delivery}>
        {(data) => (
          <>
            <div className="line">
              <DeliveryBadge status={data.status} />
              <Button
                small
                needs="webhooks:manage"
                busy={replay.isPending}
                onClick={() => replay.mutate({ id: webhook_id, delivery_id: id })}
              >
                <RotateCcw size={14} />
                {words.delivery.replay}
              </Button>
            </div>
            <DeliveryDetail delivery={data} />
          </>
        )}
      </QueryView>
    </Drawer>
  );
}
