import { useNavigate } from '@tanstack/react-router';
import { CirclePause, CircleSlash } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { exactTime, span } from '../../../parts/times.tsx';
import { agesOf, filterOf, heldBy, searchOf } from './dimensions.ts';
import type { BacklogAction, Dimension } from './search.ts';
import { words } from './strings.ts';

type Backlog = Outputs['ops']['backlog'];
type Row = Backlog['total'];

interface MatrixProps {
  readonly backlog: Backlog;
  readonly by: Dimension;
  /** Whether the backlog belongs to the user's own workspace, as bulk actions require. */
  readonly own: boolean;
  /** Opens a row's dialog, for the ages of a column if one is given. */
  readonly onOpen: (open: BacklogAction, target: string, age?: number) => void;
}

/** Shows waiting email, with a row per value of the chosen dimension and a column per age. */
export function Matrix(props: MatrixProps) {
  const { backlog, by } = props;
  const bounds = backlog.bucket_upper_minutes;
  return (
    <div className="table-wrap">
      <table className="table matrix" aria-label={words.title}>
        <thead>
          <tr>
            <th scope="col">{words.dimensions[by]}</th>
            <th scope="col" className="fit end">
              {words.total}
            </th>
            {bounds.map((upper) => (
              <th key={upper} scope="col" className="fit end less">
                {upper === null ? words.beyond : words.age(upper)}
              </th>
            ))}
            <th scope="col" className="fit end">
              {words.oldest}
            </th>
            <th scope="col" className="less">
              {words.reply}
            </th>
          </tr>
        </thead>
        <tbody>
          {backlog.rows.map((row) => (
            <MatrixRow key={row.key} row={row} {...props} />
          ))}
          <tr>
            <th scope="row">{words.total}</th>
            <td className="fit end num">{backlog.total.total}</td>
            {backlog.total.counts.map((count, at) => (
              <td key={bounds[at]} className="fit end num less">
                {count}
              </td>
            ))}
            <td className="fit end">{oldest(backlog.total)}</td>
            <td className="less" />
          </tr>
        </tbody>
      </table>
    </div>
  );
}

const oldest = ({ oldest_seconds }: Row) => (oldest_seconds === null ? '–' : span(oldest_seconds));

function MatrixRow({ row, ...props }: MatrixProps & { readonly row: Row }) {
  const { bucket_upper_minutes: bounds } = props.backlog;
  const { last_success_at } = row;
  const success = last_success_at === null ? words.never : exactTime(last_success_at, true);
  return (
    <tr data-row={row.key}>
      <td title={`${words.lastSuccess}: ${success}`}>
        <span className="line">
          <strong className="mono">{row.key}</strong>
          {row.hold !== null && (
            <Badge tone="wait" icon={CirclePause} title={row.hold.reason}>
              {words.held}
            </Badge>
          )}
          {row.closed_reason !== null && (
            <Badge tone="bad" icon={CircleSlash} title={words.closedUntil[row.closed_reason]}>
              {words.closed}
            </Badge>
          )}
        </span>
      </td>
      <td className="fit end">
        <Cell row={row} count={row.total} at={null} {...props} />
      </td>
      {row.counts.map((count, at) => (
        <td key={bounds[at]} className="fit end less">
          {count === 0 ? <span className="faint">·</span> : <Cell row={row} count={count} at={at} {...props} />}
        </td>
      ))}
      <td className="fit end">{oldest(row)}</td>
      <td className="less mono small" title={row.last_reply ?? ''}>
        {row.last_reply}
      </td>
    </tr>
  );
}

function heat(at: number | null): string {
  if (at === null || at < 1) return 'some';
  return at < 4 ? 'warm' : 'hot';
}

/** Shows a count, with actions on the email that it counts. */
function Cell({
  row,
  count,
  at,
  backlog,
  by,
  own,
  onOpen,
}: MatrixProps & { readonly row: Row; readonly count: number; readonly at: number | null }) {
  const navigate = useNavigate();
  const { what } = agesOf(backlog.bucket_upper_minutes, at);
  const filter = filterOf(by, row.key);
  const search = searchOf(by, row.key);
  const scope = heldBy(by);
  const { hold } = row;
  const plan = (action: 'retry' | 'give_up') => onOpen(action, row.key, at ?? undefined);
  return (
    <Menu
      label={words.cell(count, row.key, what)}
      className={`cell num ${heat(at)}`}
      button={count.toLocaleString('en')}
    >
      <p className="about">{what}</p>
      {search !== null && own && (
        <MenuItem onSelect={() => void navigate({ to: '/emails', search: { q: search } })}>{words.menu.show}</MenuItem>
      )}
      {scope !== null && (
        // One menu item serves as both Hold and Release so that a refresh never removes the focused item.
        <MenuItem
          needs={scope === 'destination' ? 'operator' : undefined}
          // Several workspaces may have the same domain, and an instance-wide row does not identify the workspace.
          blocked={hold === null && scope === 'sender_domain' && !own ? words.menu.ownDomain : null}
          onSelect={() => (hold === null ? onOpen('hold', row.key) : onOpen('release', hold.id))}
        >
          {hold === null ? words.menu.hold : words.menu.release}
        </MenuItem>
      )}
      {by === 'destination' && (
        <MenuItem needs="operator" onSelect={() => onOpen('limit', row.key)}>
          {words.menu.limit}
        </MenuItem>
      )}
      {filter !== null && own && <MenuItem onSelect={() => plan('retry')}>{words.menu.retry}</MenuItem>}
      {filter !== null && own && <MenuItem onSelect={() => plan('give_up')}>{words.menu.give_up}</MenuItem>}
      {filter === null && <p className="about">{words.menu.noFilter}</p>}
    </Menu>
  );
}
