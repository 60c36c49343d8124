import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Facts, Page, PageHeader } from '../../../parts/page.tsx';
import { ErrorPanel, QueryView } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime, spanMs } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { JobBadge } from '../jobs/job-badge.tsx';
import { words } from './strings.ts';

type Schedule = Outputs['ops']['schedules']['list']['data'][number];

const text = words.schedules;
const purposes: Readonly<Record<string, string>> = text.purposes;

export function SchedulesPage() {
  const { schedule: opened } = useSearch({ from: '/shell/instance/schedules' });
  const navigate = useNavigate({ from: '/instance/schedules' });
  const schedules = useQuery(trpc.ops.schedules.list.queryOptions({ next_runs: 3 }));
  const run = useMutation(
    trpc.ops.schedules.run.mutationOptions({ onSuccess: (_, { name }) => toast(text.ran(name)) }),
  );
  const shown = schedules.data?.data.find(({ name }) => name === opened);
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(opened);
  };
  return (
    <Page>
      <PageHeader title={text.title} answer={schedules.data && text.answer(schedules.data.data.length)} />
      {run.error !== null && <ErrorPanel error={run.error} />}
      <QueryView query={schedules}>
        {({ data }) => (
          <List
            label={text.title}
            columns={columns((name) => run.mutate({ name }))}
            rows={data}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
            onOpen={({ name }) => void navigate({ search: { schedule: name } })}
          />
        )}
      </QueryView>
      {opened !== undefined && (
        <Drawer title={opened} onClose={close}>
          <QueryView query={schedules}>
            {() => (shown ? <ScheduleView schedule={shown} /> : <p className="muted">{text.gone}</p>)}
          </QueryView>
        </Drawer>
      )}
    </Page>
  );
}

function ScheduleView({ schedule }: { readonly schedule: Schedule }) {
  const { name, cron, timezone, in_words, next_runs, last_run, missed_policy } = schedule;
  return (
    <>
      {purposes[name] && <p>{purposes[name]}</p>}
      <div className="line">
        <Link className="button s" to="/instance/jobs" search={{ queue: name }}>
          {text.jobs}
        </Link>
      </div>
      <Facts
        rows={[
          [text.columns.words, capitalized(in_words)],
          [text.cron, <code key="cron">{`${cron} ${timezone}`}</code>],
          [text.missed, text.missedPolicies[missed_policy]],
          [text.columns.last, <LastRun key="last" run={last_run} />],
          ...next_runs.map(
            (at, index) =>
              [
                index === 0 ? text.nextRuns : '',
                <span key={at}>
                  <ExactTime at={at} />{' '}
                  <span className="faint">
                    <RelativeTime at={at} upcoming />
                  </span>
                </span>,
              ] as const,
          ),
        ]}
      />
    </>
  );
}

function LastRun({ run }: { readonly run: Schedule['last_run'] }) {
  if (run === null) return <span className="faint">{text.never}</span>;
  return (
    <span className="nowrap">
      <JobBadge state={run.state} />{' '}
      <Link to="/instance/jobs" search={{ job: run.id }}>
        <RelativeTime at={run.created_at} />
      </Link>{' '}
      {run.duration_ms !== null && <span className="faint num">{spanMs(run.duration_ms)}</span>}
    </span>
  );
}

const capitalized = (phrase: string) => phrase.charAt(0).toUpperCase() + phrase.slice(1);

function columns(run: (name: string) => void): readonly Column<Schedule>[] {
  const heads = text.columns;
  return [
    {
      name: heads.name,
      width: '20%',
      show: ({ name, in_words, next_runs: [next] }) => (
        <>
          <Link className="row-link mono" from="/instance/schedules" search={{ schedule: name }}>
            {name}
          </Link>
          <span className="below faint">
            {capitalized(in_words)}
            {next !== undefined && (
              <>
                {' '}
                · <RelativeTime at={next} upcoming />
              </>
            )}
          </span>
        </>
      ),
    },
    { name: heads.purpose, less: true, wraps: true, show: ({ name }) => purposes[name] },
    {
      name: heads.words,
      width: 'fit',
      less: 'not-phone',
      show: (row) => <span title={`${row.cron} ${row.timezone}`}>{capitalized(row.in_words)}</span>,
    },
    {
      name: heads.next,
      width: 'fit',
      less: 'not-phone',
      show: ({ next_runs: [next] }) =>
        next === undefined ? <span className="faint">–</span> : <RelativeTime at={next} upcoming />,
    },
    { name: heads.last, width: 'fit', less: true, show: ({ last_run }) => <LastRun run={last_run} /> },
    {
      name: '',
      width: 'fit',
      end: true,
      show: ({ name }) => (
        <Button small needs="operator" label={`${text.run}: ${name}`} onClick={() => run(name)}>
          <Play size={14} />
          {text.run}
        </Button>
      ),
    },
  ];
}
