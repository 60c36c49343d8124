import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Choices } from '../../../parts/field.tsx';
import { FilterChips } from '../../../parts/filter-chips.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Empty } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { BulkDialog } from '../bulk/bulk-dialog.tsx';
import { JobBadge } from './job-badge.tsx';
import { JobDrawer } from './job-drawer.tsx';
import { type JobState, jobStates } from './job-states.ts';
import { words } from './strings.ts';

type Job = Outputs['ops']['jobs']['list']['data'][number];

export function JobsPage() {
  const { queue, state, subject, job, open } = useSearch({ from: '/shell/instance/jobs' });
  const navigate = useNavigate({ from: '/instance/jobs' });
  const queues = useQuery(trpc.ops.queues.queryOptions({}, { staleTime: 'static' }));
  const filter = { ...(queue && { queue }), ...(state && { state }), ...(subject && { subject }) };
  const list = useKeyset(trpc.ops.jobs.list, { ...filter, limit: 50 });
  const dead = (list.rows ?? []).filter((row) => row.state === 'dead').length;
  const close = () => {
    void navigate({ search: ({ job: _, open: __, ...search }) => search, replace: true });
    focusRowOf(job);
  };
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={dead > 0 ? words.answer.dead(dead, list.more) : words.answer.all}
        actions={
          queue !== undefined &&
          dead > 0 && (
            <Button
              needs="operator"
              onClick={() => void navigate({ search: (search) => ({ ...search, open: 'redrive' }) })}
            >
              {words.redrive}
            </Button>
          )
        }
      />
      <div className="line">
        <select
          className="input narrow"
          aria-label={words.queue}
          value={queue ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: ({ queue: _, ...search }) => (value === '' ? search : { ...search, queue: value }),
            })
          }
        >
          <option value="">{words.allQueues}</option>
          {(queues.data?.data ?? []).map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <Choices<JobState | 'all'>
          label={words.state}
          options={(['all', ...jobStates] as const).map((name) => [name, words.states[name]] as const)}
          value={state ?? 'all'}
          onChange={(name) =>
            void navigate({
              search: ({ state: _, ...search }) => (name === 'all' ? search : { ...search, state: name }),
            })
          }
        />
      </div>
      <SearchField
        label={words.subject}
        placeholder={words.subjectHint}
        text={subject ?? ''}
        onChange={(text) =>
          void navigate({
            search: ({ subject: _, ...search }) => (text === '' ? search : { ...search, subject: text }),
          })
        }
      />
      <FilterChips
        all={[
          ...(queue ? [{ label: words.chips.queue(queue), without: 'queue' as const }] : []),
          ...(state ? [{ label: words.chips.state(words.states[state]), without: 'state' as const }] : []),
          ...(subject ? [{ label: words.chips.subject(subject), without: 'subject' as const }] : []),
        ].map(({ label, without }) => ({
          label,
          remove: () => void navigate({ search: ({ [without]: _, ...search }) => search }),
        }))}
        onClear={() => void navigate({ search: {} })}
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ search: (search) => ({ ...search, job: id }) })}
        freshWord={words.fresh}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      {job !== undefined && <JobDrawer id={job} onClose={close} />}
      {open === 'redrive' && queue !== undefined && (
        <BulkDialog plan={{ action: 'redrive', filter: { queue }, title: words.redriveTitle(queue) }} onClose={close} />
      )}
    </Page>
  );
}

const columns: readonly Column<Job>[] = [
  {
    name: words.columns.queue,
    width: '22%',
    show: (row) => (
      <>
        <Link className="row-link mono" from="/instance/jobs" search={(search) => ({ ...search, job: row.id })}>
          {row.queue}
        </Link>
        <span className="below faint">
          <DueTime job={row} /> · <About job={row} />
        </span>
      </>
    ),
  },
  { name: words.columns.state, width: 'fit', show: ({ state }) => <JobBadge state={state} /> },
  { name: words.columns.subject, width: '26%', less: true, show: (row) => <About job={row} /> },
  {
    name: words.columns.tries,
    width: 'fit',
    end: true,
    less: true,
    show: (row) => {
      const count = attemptsMade(row);
      return <span className={count === 0 ? 'num faint' : 'num'}>{count}</span>;
    },
  },
  { name: words.columns.error, less: true, show: ({ output }) => <Failure output={output} /> },
  { name: words.columns.due, width: 'fit', less: 'not-phone', end: true, show: (row) => <DueTime job={row} /> },
];

/** Names the job's subject, or summarizes its payload if it has none. */
function About({ job: { subject, data } }: { readonly job: Job }) {
  if (subject !== null) return <span className="mono small">{subject.id}</span>;
  const text = Object.entries(data)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
  return (
    <span className="faint small" title={text}>
      {text || words.noPayload}
    </span>
  );
}

function DueTime({ job: { state, start_after } }: { readonly job: Job }) {
  return <RelativeTime at={start_after} upcoming={state === 'deferred' || state === 'retry'} />;
}

/** Counts the runs that have begun: a run counts as a retry only once the next one begins. */
function attemptsMade({ started_at, retry_count }: Job): number {
  return started_at === null ? retry_count : retry_count + 1;
}

/** Links a failure's text to its details. */
function Failure({ output }: Pick<Job, 'output'>) {
  const text = failureText(output);
  return text === '' ? <span className="faint">–</span> : <span title={text}>{text}</span>;
}

export function failureText(output: unknown): string {
  if (output === null || output === undefined) return '';
  if (typeof output === 'object' && 'message' in output && typeof output.message === 'string') return output.message;
  return typeof output === 'string' ? output : JSON.stringify(output);
}
