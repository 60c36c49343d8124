import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, Ellipsis, FlaskConical, Pencil, Plus, Timer, Trash2 } from 'lucide-react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { words } from './strings.ts';
import { TestTransport } from './test-transport.tsx';
import type { Transport } from './transport.ts';
import { TransportForm } from './transport-form.tsx';

type Health = Outputs['transports']['health']['data'][number];
type Row = Transport & { readonly health: Health | undefined };

const DEFAULT = 'default';
const badges = { ok: ['good', CircleCheck], limited: ['wait', Timer], failing: ['bad', CircleAlert] } as const;

/** Lists the transports and their health, and edits them and the rules that choose among them. */
export function TransportsPage() {
  const { open, transport: id } = useSearch({ from: '/shell/instance/delivery/transports' });
  const navigate = useNavigate({ from: '/instance/delivery/transports' });
  const transports = useQuery(trpc.transports.list.queryOptions({}));
  const health = useQuery(trpc.transports.health.queryOptions({}));
  const health_of = new Map(health.data?.data.map((one) => [one.transport_id, one]));
  const target = transports.data?.data.find((one) => one.id === id);
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(id);
  };
  const openDialog =
    (name: 'edit' | 'test' | 'delete') =>
    ({ id: transport }: Row) =>
      void navigate({ search: { open: name, transport } });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={transports.data && health.data && answerOf(transports.data.data, health_of)}
        actions={
          <Button kind="primary" needs="operator" onClick={() => void navigate({ search: { open: 'new' } })}>
            <Plus size={15} />
            {words.create}
          </Button>
        }
      />
      <QueryView query={transports}>
        {({ data }) => (
          <>
            <List
              label={words.title}
              columns={columns({
                edit: openDialog('edit'),
                test: openDialog('test'),
                remove: openDialog('delete'),
              })}
              rows={data.map((one) => ({ ...one, health: health_of.get(one.id) }))}
              idOf={(row) => row.id}
              nameOf={({ name }) => name}
              onOpen={(row) => openDialog(row.id === DEFAULT ? 'test' : 'edit')(row)}
            />
            <RulesPanel transports={data} />
          </>
        )}
      </QueryView>
      {open === 'new' && <TransportForm transport={null} onClose={close} />}
      {open === 'edit' && target && target.id !== DEFAULT && <TransportForm transport={target} onClose={close} />}
      {open === 'test' && target && <TestTransport transport={target} onClose={close} />}
      {open === 'delete' && target && (
        <FormDialog
          title={words.removing.title(target.name)}
          about={words.removing.about}
          keep={words.removing.keep}
          submit={words.removing.submit}
          danger
          run={() => client.transports.delete.mutate({ transport_id: target.id })}
          onDone={() => toast(words.removing.done(target.name))}
          onClose={close}
        />
      )}
    </Page>
  );
}

function answerOf(transports: readonly Transport[], health_of: ReadonlyMap<string, Health>): string {
  const names = transports.filter(({ id }) => (health_of.get(id)?.status ?? 'ok') !== 'ok').map(({ name }) => name);
  return names.length === 0 ? words.answer.ok : words.answer.some(names.join(', '));
}

interface Actions {
  readonly edit: (row: Row) => void;
  readonly test: (row: Row) => void;
  readonly remove: (row: Row) => void;
}

function columns({ edit, test, remove }: Actions): readonly Column<Row>[] {
  const { name, way, status, waiting, limits, reply } = words.columns;
  return [
    {
      name,
      show: (row) => (
        <Link
          className="row-link"
          from="/instance/delivery/transports"
          search={{ open: row.id === DEFAULT ? 'test' : 'edit', transport: row.id }}
        >
          {row.name}
        </Link>
      ),
    },
    {
      name: way,
      less: true,
      show: ({ kind, host, port }) =>
        kind === 'smtp' ? <span className="mono small">{`${host}:${port}`}</span> : words.ways[kind],
    },
    { name: status, width: 'fit', show: ({ health }) => health && <Status health={health} /> },
    {
      name: waiting,
      width: 'fit',
      end: true,
      less: true,
      show: ({ health }) => <span className="num">{health?.waiting ?? ''}</span>,
    },
    { name: limits, less: true, show: (row) => <span className="small">{limitsOf(row) || words.unlimited}</span> },
    {
      name: reply,
      less: 'unless-wide',
      show: ({ health }) => health?.last_reply && <span className="small">{health.last_reply}</span>,
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => (
        <Menu label={words.actions(row.name)} className="button plain icon" button={<Ellipsis size={16} />}>
          <MenuItem needs="operator" onSelect={() => test(row)}>
            <FlaskConical size={14} />
            {words.test}
          </MenuItem>
          {row.id !== DEFAULT && (
            <MenuItem needs="operator" onSelect={() => edit(row)}>
              <Pencil size={14} />
              {words.edit}
            </MenuItem>
          )}
          {row.id !== DEFAULT && (
            <MenuItem needs="operator" onSelect={() => remove(row)}>
              <Trash2 size={14} />
              {words.remove}
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ];
}

function Status({ health }: { readonly health: Health }) {
  const [tone, icon] = badges[health.status];
  return (
    <>
      <Badge tone={tone} icon={icon}>
        {words.statuses[health.status]}
      </Badge>
      {health.closed_until !== null && (
        <span className="small muted">
          {' '}
          {words.untilOpen} <RelativeTime at={health.closed_until} upcoming />
        </span>
      )}
    </>
  );
}

function limitsOf({ messages_per_day, messages_per_minute, max_connections, health }: Row): string {
  return [
    messages_per_day !== null && words.today(health?.used_today ?? 0, messages_per_day),
    messages_per_minute !== null && words.perMinute(messages_per_minute),
    max_connections !== null && words.connections(max_connections),
  ]
    .filter((part) => part !== false)
    .join(', ');
}
