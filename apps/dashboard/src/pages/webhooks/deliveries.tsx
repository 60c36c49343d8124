import { useMutation } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, Clock, RotateCcw } from 'lucide-react';
import { client, type Outputs } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import type { Column } from '../../parts/list.tsx';
import { Facts } from '../../parts/page.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { ExactTime, RelativeTime, spanMs } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

type Delivery = Outputs['deliveries']['list']['data'][number];

const badges = { pending: ['wait', Clock], delivered: ['good', CircleCheck], failed: ['bad', CircleAlert] } as const;

function DeliveryBadge({ status }: Pick<Delivery, 'status'>) {
  const [tone, icon] = badges[status];
  return (
    <Badge tone={tone} icon={icon}>
      {words.detail.states[status]}
    </Badge>
  );
}

const { type, state, status, attempts, at, took } = words.detail.columns;

export const deliveryColumns: readonly Column<Delivery>[] = [
  { name: type, show: (row) => <strong className="mono small">{row.event_type}</strong> },
  { name: state, width: 'fit', show: (row) => <DeliveryBadge status={row.status} /> },
  {
    name: status,
    width: '22%',
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

export function DeliveryDrawer({
  delivery,
  onClose,
  onReplayed,
}: {
  readonly delivery: Delivery;
  readonly onClose: () => void;
  readonly onReplayed: () => void;
}) {
  const { id, webhook_id, event_id, event_type, response_body, response_status } = delivery;
  const replay = useMutation({
    mutationFn: () => client.deliveries.replay.mutate({ id: webhook_id, delivery_id: id }),
    onSuccess() {
      toast(words.delivery.replayed);
      onReplayed();
    },
  });
  return (
    <Drawer title={event_type} onClose={onClose}>
      {replay.error !== null && <ErrorPanel error={replay.error} />}
      <div className="line">
        <DeliveryBadge status={delivery.status} />
        <Button small needs="webhooks:manage" busy={replay.isPending} onClick={() => replay.mutate()}>
          <RotateCcw size={14} />
          {words.delivery.replay}
        </Button>
      </div>
      <Facts
        rows={[
          [words.delivery.id, <Id key="id" id={event_id} whole />],
          [words.delivery.attempts, String(delivery.attempts)],
          [words.delivery.last, delivery.last_attempt_at && <ExactTime key="last" at={delivery.last_attempt_at} />],
          [words.delivery.next, delivery.next_attempt_at && <RelativeTime key="next" at={delivery.next_attempt_at} />],
          [words.delivery.took, delivery.duration_ms === null ? null : spanMs(delivery.duration_ms)],
          [words.delivery.error, delivery.error],
        ]}
      />
      {response_status !== null && (
        <div className="stack-s">
          <h3>
            {words.delivery.answer} {response_status}
          </h3>
          {response_body ? (
            <CodeBlock text={response_body} what="the answer" />
          ) : (
            <p className="muted">{words.delivery.noAnswer}</p>
          )}
        </div>
      )}
    </Drawer>
  );
}
