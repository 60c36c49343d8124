import { Ellipsis } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { type Column, List } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Panel } from '../../../parts/page.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import type { IncidentAction } from './ranges.ts';
import { words } from './strings.ts';

type Group = Outputs['ops']['failureGroups']['data'][number];

interface Acting {
  /** Whether the failures belong to the user's own workspace, as bulk actions require. */
  readonly own: boolean;
  readonly onOpen: (action: IncidentAction, destination: string) => void;
}

const MAX_SUGGESTIONS = 3;

export function FailureGroups({ groups, ...acting }: Acting & { readonly groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <Panel title={words.groups} bare>
      <List
        label={words.groups}
        columns={columns(acting)}
        rows={groups}
        idOf={({ id }) => id}
        nameOf={({ signature }) => signature}
      />
    </Panel>
  );
}

function columns({ own, onOpen }: Acting): readonly Column<Group>[] {
  return [
    {
      name: words.columns.sample,
      wraps: true,
      show: ({ signature, sample }) => (
        <span className="mono small" title={sample}>
          {signature}
        </span>
      ),
    },
    {
      name: words.columns.destinations,
      width: '24%',
      less: true,
      show: ({ destinations }) => <span title={destinations.join(', ')}>{destinations.join(', ')}</span>,
    },
    { name: words.columns.last, width: 'fit', less: true, show: (row) => <RelativeTime at={row.last_seen_at} /> },
    {
      name: words.columns.count,
      width: 'fit',
      end: true,
      show: ({ count }) => <span className="num">{count.toLocaleString('en')}</span>,
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: ({ signature, destinations }) =>
        destinations.length > 0 && (
          <Menu label={words.actions(signature)} className="button plain icon" button={<Ellipsis size={16} />}>
            {destinations.slice(0, MAX_SUGGESTIONS).flatMap((destination) => [
              <MenuItem key={`hold ${destination}`} needs="operator" onSelect={() => onOpen('hold', destination)}>
                {words.hold(destination)}
              </MenuItem>,
              ...(own
                ? (['retry', 'give_up'] as const).map((action) => (
                    <MenuItem key={`${action} ${destination}`} onSelect={() => onOpen(action, destination)}>
                      {words[action](destination)}
                    </MenuItem>
                  ))
                : []),
            ])}
          </Menu>
        ),
    },
  ];
}
