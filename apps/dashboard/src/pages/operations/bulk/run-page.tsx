import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Id } from '../../../parts/copy.tsx';
import { Choices } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Facts, Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { ErrorPanel, Notice, QueryView } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useReach } from '../reach/use-reach.ts';
import { outcomes } from './outcomes.ts';
import { paths } from './paths.ts';
import { isRunning, RunBadge } from './run-badge.tsx';
import { words } from './strings.ts';

type Run = Outputs['ops']['bulkGet'];
type Item = Outputs['ops']['bulkItems']['data'][number];

/** Shows one run with its receipts. */
export function RunPage() {
  const { id } = useParams({ from: `/shell${paths[useReach()]}/$id` });
  const run = useQuery(trpc.ops.bulkGet.queryOptions({ id }));
  return (
    <Page>
      <QueryView query={run} head={<PageHeader title={words.detail.title} />}>
        {(data) => <RunView run={data} />}
      </QueryView>
    </Page>
  );
}

function RunView({ run }: { readonly run: Run }) {
  const text = words.detail;
  const cancel = useMutation(trpc.ops.bulkCancel.mutationOptions({ onSuccess: () => toast(text.canceled) }));
  const touched = run.done + run.failed + run.skipped;
  return (
    <>
      <PageHeader
        name={words.actions[run.action]}
        title={
          <span className="line">
            {words.actions[run.action]} <RunBadge status={run.status} />
          </span>
        }
        answer={text.answer(touched, run.matched, run.matched_exact)}
        actions={
          isRunning(run) && (
            <Button busy={cancel.isPending} onClick={() => cancel.mutate({ id: run.id })}>
              {text.cancel}
            </Button>
          )
        }
      />
      {cancel.error !== null && <ErrorPanel error={cancel.error} />}
      <progress className="quota" aria-label={text.progress} max={Math.max(run.matched, touched, 1)} value={touched} />
      {run.truncated && (
        <Notice tone="wait">
          <p>{text.truncated}</p>
        </Notice>
      )}
      <Receipts run={run} />
      <Panel title={text.facts}>
        <Facts
          rows={[
            [text.reason, run.reason],
            [text.by, run.created_by.name],
            [text.filter, <code key="filter">{JSON.stringify(run.filter)}</code>],
            [text.rate, text.perSecond(run.rate_per_second)],
            [text.cutoff, <ExactTime key="cutoff" at={run.cutoff_at} />],
            [text.created, <ExactTime key="created" at={run.created_at} />],
            [text.finished, run.finished_at && <ExactTime key="finished" at={run.finished_at} />],
            [text.id, <Id key="id" id={run.id} whole />],
          ]}
        />
      </Panel>
    </>
  );
}

function Receipts({ run }: { readonly run: Run }) {
  const path = paths[useReach()];
  const { outcome } = useSearch({ from: `/shell${path}/$id` });
  const navigate = useNavigate({ from: `${path}/$id` as const });
  const text = words.detail;
  const list = useKeyset(trpc.ops.bulkItems, { id: run.id, limit: 50, ...(outcome && { outcome }) });
  return (
    <section className="stack" aria-label={text.receipts}>
      <div className="line spread">
        <h2>{text.receipts}</h2>
        <Choices
          label={text.outcome}
          options={(['all', ...outcomes] as const).map((name) => [name, text.outcomes[name]] as const)}
          value={outcome ?? 'all'}
          onChange={(name) => void navigate({ search: name === 'all' ? {} : { outcome: name }, replace: true })}
        />
      </div>
      <KeysetList
        label={text.receipts}
        list={list}
        columns={itemColumns}
        idOf={({ id }) => id}
        nameOf={({ id }) => id}
        freshWord={words.fresh}
        empty={<p className="muted">{text.noReceipts}</p>}
      />
    </section>
  );
}

const itemColumns: readonly Column<Item>[] = [
  {
    name: words.detail.item,
    width: '34%',
    show: ({ id }) =>
      id.startsWith('msg_') ? (
        <Link className="row-link mono" to="/emails/$id" params={{ id }}>
          {id}
        </Link>
      ) : (
        <span className="mono">{id}</span>
      ),
  },
  { name: words.detail.outcome, width: 'fit', show: ({ outcome }) => words.detail.outcomes[outcome] },
  { name: words.detail.why, show: ({ reason }) => <span className="mono small">{reason}</span> },
  { name: words.detail.at, width: 'fit', end: true, less: true, show: ({ at }) => <RelativeTime at={at} /> },
];
