import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { routeOf } from '../../../shell/paths.ts';
import { AlarmList } from '../../settings/alarms/alarm-list.tsx';
import { AlarmRules } from '../../settings/alarms/alarm-rules.tsx';
import { AlarmSettings } from '../../settings/alarms/alarm-settings.tsx';
import { CheckupBadge } from './checkup-badge.tsx';
import { words } from './strings.ts';

type Health = Outputs['ops']['health'];
type Machine = Outputs['ops']['doctor'];

interface Check {
  readonly name: string;
  readonly status: Machine['status'];
  readonly detail: string | null;
  readonly fix: string | null;
  readonly since: string | null;
  /** The page that shows the problem. */
  readonly page: string | null;
}

/** Shows whether the instance works: its alerts, its checks, and where its alerts are sent. */
export function HealthPage() {
  const health = useQuery(trpc.ops.health.queryOptions({}));
  const machine = useQuery(trpc.ops.doctor.queryOptions({}, { staleTime: 'static' }));
  return (
    <Page>
      <PageHeader title={words.title} answer={health.data && answerOf(health.data, machine.data)} />
      <AlarmList access="instance" />
      <Panel title={words.checks} bare>
        <QueryView query={health} lines={4}>
          {({ checks }) => (
            <Checks
              label={words.checks}
              rows={checks.map(({ advice, name, ...check }) => ({
                ...check,
                name: words.checkNames[name] ?? name,
                fix: advice,
              }))}
            />
          )}
        </QueryView>
      </Panel>
      <Panel
        title={words.machine}
        bare
        actions={
          <Button small busy={machine.isFetching} onClick={() => void machine.refetch()}>
            <RefreshCw size={14} />
            {words.again}
          </Button>
        }
      >
        <QueryView query={machine}>
          {({ checks }) => <Checks label={words.machine} rows={checks.map(worded)} />}
        </QueryView>
      </Panel>
      <AlarmSettings access="instance" />
      <AlarmRules access="instance" />
    </Page>
  );
}

const worded = (check: Machine['checks'][number]): Check => ({
  ...check,
  name: check.name.replaceAll('_', ' '),
  since: null,
  page: null,
});

function answerOf(health: Health, machine: Machine | undefined): string {
  const all = [...health.checks, ...(machine?.checks ?? [])];
  for (const status of ['failing', 'warning'] as const) {
    const names = all.filter((check) => check.status === status).map(({ name }) => words.checkNames[name] ?? name);
    if (names.length > 0) return words.answer[status](names.join(', ').replaceAll('_', ' '));
  }
  return words.answer.ok;
}

function Checks({ label, rows }: { readonly label: string; readonly rows: readonly Check[] }) {
  return <List label={label} columns={columns} rows={rows} idOf={({ name }) => name} nameOf={({ name }) => name} />;
}

const columns: readonly Column<Check>[] = [
  {
    name: words.columns.check,
    width: 'fit',
    show: ({ name, page }) => (page === null ? <strong>{name}</strong> : <Link to={routeOf(page)}>{name}</Link>),
  },
  {
    name: words.columns.state,
    width: 'fit',
    show: ({ status }) => <CheckupBadge status={status} />,
  },
  { name: words.columns.found, wraps: true, less: true, show: ({ detail }) => detail },
  { name: words.columns.since, width: 'fit', less: true, show: ({ since }) => since && <RelativeTime at={since} /> },
  { name: words.columns.fix, wraps: true, show: ({ fix }) => fix },
];
