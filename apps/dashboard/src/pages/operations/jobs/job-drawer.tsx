import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock, Id } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Facts } from '../../../parts/page.tsx';
import { ErrorPanel, Notice, QueryView } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { ExactTime, spanMs } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Job = Outputs['ops']['jobs']['get'];
type Attempt = Job['attempts'][number];
type Action = keyof typeof words.detail.done;

const calls: Readonly<Record<Action, (id: string) => Promise<unknown>>> = {
  retry: (id) => client.ops.jobs.retry.mutate({ id }),
  runNow: (id) => client.ops.jobs.runNow.mutate({ id }),
  cancel: (id) => client.ops.jobs.cancel.mutate({ id }),
};
/** The actions that may help in each state. The server decides, and explains why an action is unavailable. */
const offered: Readonly<Record<Job['state'], readonly Action[]>> = {
  ready: ['cancel'],
  active: [],
  deferred: ['runNow', 'cancel'],
  retry: ['runNow', 'cancel'],
  dead: ['retry', 'cancel'],
  completed: [],
  canceled: ['retry'],
};

/** A webhook's job only wakes a worker for the next delivery that is due, so running it early would do nothing. */
function actionsOf({ state, queue }: Job): readonly Action[] {
  return offered[state].filter((action) => action !== 'runNow' || queue !== 'webhook.deliver');
}

export function JobDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const job = useQuery(trpc.ops.jobs.get.queryOptions({ id }));
  const act = useMutation({
    mutationFn: (action: Action) => calls[action](id),
    onSuccess: (_, action) => toast(words.detail.done[action]),
  });
  return (
    <Drawer title={job.data?.queue ?? words.title} onClose={onClose}>
      {act.error !== null && <ErrorPanel error={act.error} />}
      <QueryView query={job}>
        {(data) => (
          <>
            {actionsOf(data).length > 0 && (
              <div className="line">
                {actionsOf(data).map((action) => (
                  <Button key={action} small needs="operator" busy={act.isPending} onClick={() => act.mutate(action)}>
                    {words.detail[action]}
                  </Button>
                ))}
              </div>
            )}
            <JobView job={data} />
          </>
        )}
      </QueryView>
    </Drawer>
  );
}

function JobView({ job }: { readonly job: Job }) {
  const text = words.detail;
  const newest = job.attempts.find(({ error }) => error !== null)?.error;
  return (
    <>
      {newest && (
        <Notice tone="bad">
          <p className="breaks">{newest.message}</p>
        </Notice>
      )}
      <div className="stack-s">
        <h3>{text.attempts}</h3>
        {job.attempts.length === 0 ? (
          <p className="muted">{text.noAttempts}</p>
        ) : (
          <List
            label={text.attempts}
            columns={attemptColumns}
            rows={job.attempts}
            idOf={({ number }) => String(number)}
            nameOf={({ number }) => String(number)}
          />
        )}
      </div>
      <div className="stack-s">
        <h3>{text.payload}</h3>
        <CodeBlock text={JSON.stringify(job.data, null, 2)} what={parts.texts.payload} />
      </div>
      <Facts
        rows={[
          [words.columns.state, words.states[job.state]],
          [words.columns.subject, <Subject key="subject" subject={job.subject} />],
          [text.parked, job.parked_in],
          [text.tries, text.of(job.retry_count, job.retry_limit)],
          [text.worker, job.worker?.name],
          [text.created, <ExactTime key="created" at={job.created_at} />],
          [text.due, <ExactTime key="due" at={job.start_after} />],
          [text.started, job.started_at && <ExactTime key="started" at={job.started_at} />],
          [text.ended, job.completed_at && <ExactTime key="ended" at={job.completed_at} />],
          [text.id, <Id key="id" id={job.id} whole />],
        ]}
      />
    </>
  );
}

function Subject({ subject }: Pick<Job, 'subject'>) {
  if (subject === null) return '–';
  const { type, id } = subject;
  const to = { message: `/emails/${id}`, webhook: `/webhooks/${id}`, domain: `/domains/${id}` }[type];
  return (
    <Link className="mono" to={to}>
      {id}
    </Link>
  );
}

const attemptColumns: readonly Column<Attempt>[] = [
  { name: words.detail.number, width: 'fit', show: ({ number }) => <span className="num">{number}</span> },
  { name: words.detail.at, width: 'fit', show: ({ started_at }) => <ExactTime at={started_at} /> },
  {
    name: words.detail.took,
    width: 'fit',
    end: true,
    less: true,
    show: ({ duration_ms }) => (duration_ms === null ? '–' : spanMs(duration_ms)),
  },
  {
    name: words.detail.outcome,
    wraps: true,
    show: ({ error }) => (error === null ? words.detail.fine : `${error.name}: ${error.message}`),
  },
  { name: words.detail.worker, width: 'fit', less: true, show: ({ worker }) => worker },
];
