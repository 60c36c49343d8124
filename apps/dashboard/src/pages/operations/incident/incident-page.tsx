import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unlessFrozen } from '../../../api/polled.ts';
import { useStore } from '../../../api/store.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { ChartPanel } from '../../../parts/charts/chart-panel.tsx';
import { useNow } from '../../../parts/clock.ts';
import { Choices } from '../../../parts/field.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { exactTime, inUtc } from '../../../parts/times.tsx';
import { WAITING } from '../backlog/dimensions.ts';
import { BulkDialog } from '../bulk/bulk-dialog.tsx';
import { HoldForm } from '../holds/hold-form.tsx';
import { useReach } from '../reach/use-reach.ts';
import { FailureGroups } from './failure-groups.tsx';
import { Happenings } from './happenings-panel.tsx';
import { type Range, rangeNames, ranges } from './ranges.ts';
import { words } from './strings.ts';

type Groups = Outputs['ops']['failureGroups'];

const paths = { workspace: '/delivery/incidents', instance: '/instance/incidents' } as const;

const MINUTE_MS = 60_000;

/** Shows everything that happened in a time range on one page. Its URL can be shared. */
export function IncidentPage() {
  const reach = useReach();
  const search = useSearch({ from: `/shell${paths[reach]}` });
  const { since: since_param, until, range = 'hour', open, target } = search;
  const navigate = useNavigate({ from: paths[reach] });
  const close = () => void navigate({ search: ({ open: _, target: __, ...rest }) => rest, replace: true });
  const now = useNow(MINUTE_MS);
  const utc = useStore(inUtc);
  const since = since_param ?? new Date(now - ranges[range] * 60 * MINUTE_MS).toISOString();
  const end = until ?? new Date(now + MINUTE_MS).toISOString();
  const groups = useQuery(
    trpc.ops.failureGroups.queryOptions(
      { since, ...(until && { until }), reach, top: 20 },
      unlessFrozen(until !== undefined),
    ),
  );
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={groups.data && answerOf(groups.data)}
        actions={
          since_param === undefined ? (
            <Button onClick={() => void navigate({ search: (rest) => ({ ...rest, since, until: end }) })}>
              {words.fix}
            </Button>
          ) : (
            <Button onClick={() => void navigate({ search: ({ since: _, until: __, ...rest }) => rest })}>
              {words.moving}
            </Button>
          )
        }
      />
      <div className="line">
        {since_param === undefined ? (
          <Choices<Range>
            label={words.range}
            options={rangeNames.map((name) => [name, words.ranges[name]] as const)}
            value={range}
            onChange={(next) => void navigate({ search: (rest) => ({ ...rest, range: next }) })}
          />
        ) : (
          <span className="chip" title={words.share}>
            {words.fixed(exactTime(since, utc), exactTime(end, utc))}
          </span>
        )}
      </div>
      <QueryView query={groups}>
        {(data) => (
          <>
            <FailureChart groups={data} />
            <Happenings since={since} until={end} whose={reach} frozen={until !== undefined} />
            <FailureGroups
              groups={data.data}
              own={reach === 'workspace'}
              onOpen={(action, destination) =>
                void navigate({ search: (rest) => ({ ...rest, open: action, target: destination }) })
              }
            />
          </>
        )}
      </QueryView>
      {open === 'hold' && target && <HoldForm target={{ scope: 'destination', value: target }} onClose={close} />}
      {(open === 'retry' || open === 'give_up') && target && (
        <BulkDialog
          plan={{ action: open, filter: { status: WAITING, to_domain: target }, title: words[open](target) }}
          onClose={close}
        />
      )}
    </Page>
  );
}

function answerOf({ data }: Groups): string {
  const [first] = data;
  if (!first) return words.answer.calm;
  const count = data.reduce((sum, group) => sum + group.count, 0);
  return words.answer.some(count.toLocaleString('en'), data.length, first.signature.slice(0, 80));
}

const TONES = ['bad', 'wait', 'info', 'accent'] as const;

function FailureChart({ groups }: { readonly groups: Groups }) {
  const path = paths[useReach()];
  const { view = 'chart' } = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  const utc = useStore(inUtc);
  const top_groups = groups.data.slice(0, TONES.length);
  const [first] = top_groups;
  if (!first) return null;
  return (
    <ChartPanel
      title={words.failures}
      file="failures"
      timeWord={words.time}
      times={first.trend.map(({ at }) => exactTime(at, utc).slice(5, 16))}
      series={top_groups.map(({ signature, trend }, index) => ({
        name: signature.slice(0, 60),
        tone: TONES[index] ?? 'calm',
        values: trend.map(({ value }) => value),
      }))}
      format={(value) => Math.round(value).toLocaleString('en')}
      view={view}
      onView={(name) =>
        void navigate({
          search: ({ view: _, ...search }) => (name === 'table' ? { ...search, view: name } : search),
          replace: true,
        })
      }
    />
  );
}
