import { useMutation, useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { ErrorPanel, QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Schedule = Outputs['ops']['schedules']['list']['data'][number];

export function SchedulesPage() {
  const { title, answer: response, ran } = words.schedules;
  const schedules = useQuery(trpc.ops.schedules.list.queryOptions({ next_runs: 1 }));
  const run = useMutation(trpc.ops.schedules.run.mutationOptions({ onSuccess: (_, { name }) => toast(ran(name)) }));
  return (
    <Page>
      <PageHeader title={title} answer={schedules.data && response(schedules.data.data.length)} />
      {run.error !== null && <ErrorPanel error={run.error} />}
      <QueryView query={schedules}>
        {({ data }) => (
          <List
            label={title}
            columns={columns((name) => run.mutate({ name }))}
            rows={data}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
          />
        )}
      </QueryView>
    </Page>
  );
}

function columns(run: (name: string) => void): readonly Column<Schedule>[] {
  const { columns: heads, never, run: runWord } = words.schedules;
  return [
    { name: heads.name, show: (row) => <strong className="mono small">{row.name}</strong> },
    { name: heads.words, show: (row) => <span title={`${row.cron} ${row.timezone}`}>{row.in_words}</span> },
    {
      name: heads.next,
      width: 'fit',
      show: ({ next_runs: [next] }) => (next === undefined ? '–' : <RelativeTime at={next} upcoming />),
    },
    {
      name: heads.last,
      width: 'fit',
      less: true,
      show: ({ last_run }) =>
        last_run === null ? <span className="faint">{never}</span> : <RelativeTime at={last_run.created_at} />,
    },
    {
      name: heads.state,
      width: 'fit',
      less: true,
      show: ({ last_run }) => last_run && <span className="chip">{last_run.state}</span>,
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: ({ name }) => (
        <Button small needs="operator" label={`${runWord}: ${name}`} onClick={() => run(name)}>
          <Play size={14} />
          {runWord}
        </Button>
      ),
    },
  ];
}
