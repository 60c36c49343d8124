import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Panel } from '../../../parts/page.tsx';
import type { BacklogAction } from './search.ts';
import { words } from './strings.ts';

const text = words.limits;

/** Lists the destination limits, which stay in force while no email is waiting for the destination. */
export function LimitsPanel({ onOpen }: { readonly onOpen: (open: BacklogAction, target?: string) => void }) {
  const { data } = useQuery(trpc.destinations.list.queryOptions({}));
  // A limit applies over all transports, and has a row of its own.
  const limits =
    data?.data.filter(
      (row) => row.transport_id === null && (row.connections !== null || row.messages_per_minute !== null),
    ) ?? [];
  return (
    <Panel
      title={text.title}
      actions={
        <Button small onClick={() => onOpen('new_limit')}>
          {text.create}
        </Button>
      }
    >
      {limits.length === 0 ? (
        <p className="muted small">{text.none}</p>
      ) : (
        <ul className="stack-s" aria-label={text.title}>
          {limits.map((limit) => (
            <li key={limit.destination} className="line">
              <strong className="mono">{limit.destination}</strong>
              <span className="muted">{limitText(limit)}</span>
              <Button small label={text.changeOf(limit.destination)} onClick={() => onOpen('limit', limit.destination)}>
                {text.change}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function limitText({ connections, messages_per_minute }: Outputs['destinations']['list']['data'][number]): string {
  return [
    messages_per_minute !== null && text.rate(messages_per_minute),
    connections !== null && text.connections(connections),
  ]
    .filter((part) => part !== false)
    .join(', ');
}
