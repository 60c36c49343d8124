import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Circle, CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import { type Me, may, useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import type { ChartView } from '../../parts/charts/chart-panel.tsx';
import { useNow } from '../../parts/clock.ts';
import { Figures, Page, PageHeader, Panel } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { RelativeTime, span } from '../../parts/times.tsx';
import { MailChart } from '../stats/mail-chart.tsx';
import './overview.css';
import { locate } from '../../shell/navigation.ts';
import { routeOf } from '../../shell/paths.ts';
import { words } from './strings.ts';

type Summary = Outputs['overview']['summary'];
type Problem = Summary['problems'][number];
type Step = Outputs['onboarding']['state']['steps'][number];

const HOUR_MS = 3_600_000;

export function OverviewPage() {
  const summary = useQuery(trpc.overview.summary.queryOptions({}));
  const steps = useQuery(trpc.onboarding.state.queryOptions({}));
  return (
    <Page>
      <PageHeader title={words.title} answer={summary.data && answerOf(summary.data)} />
      {steps.data && !steps.data.done && <FirstSteps steps={steps.data.steps} />}
      <QueryView query={summary}>
        {(overview) => (
          <>
            {overview.problems.length > 0 && <Problems problems={overview.problems} />}
            <LastFigures summary={overview} begun_at={firstMailAt(steps.data?.steps)} />
            <LastDay />
            <Quota usage={overview.usage} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function answerOf({ problems, waiting }: Summary): string {
  const state = problems.length === 0 ? words.answer.calm : words.answer.problems(problems.length);
  const { oldest_seconds } = waiting;
  return `${state} ${oldest_seconds === null ? words.answer.none : words.answer.waits(span(oldest_seconds))}`;
}

const stepLinks: Readonly<Record<Step['name'], string>> = {
  key: '/settings/api-keys?open=new',
  test_send: '/emails/new',
  domain: '/domains?open=new',
  verify: '/domains',
  webhook: '/webhooks?open=new',
};

function FirstSteps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <Panel title={words.steps.title} bare>
      <ol className="steps">
        {steps.map(({ name, done_at }) => {
          const [title, description] = words.steps.texts[name];
          const done = done_at !== null;
          const Icon = done ? CircleCheck : Circle;
          return (
            <li key={name}>
              <Icon
                size={18}
                color={done ? 'var(--good)' : 'var(--faint)'}
                aria-label={done ? words.steps.done : words.steps.open}
              />
              <Link to={stepLinks[name]}>{title}</Link>
              <span className="muted small">{description}</span>
              {done_at !== null && (
                <span className="faint small">
                  <RelativeTime at={done_at} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}

/** Returns whether the page of a problem is one that the user may open. */
function mayOpen(me: Me, page: string): boolean {
  const { needs } = locate(routeOf(page).replace(/\?.*/, ''))?.place ?? {};
  return needs === undefined || may(me, needs);
}

function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  const me = useMe();
  return (
    <Panel title={words.problems.title} bare>
      <ul className="steps">
        {problems.map(({ kind, state, severity, count, names, since, page }) => {
          const Icon = severity === 'error' ? CircleAlert : TriangleAlert;
          return (
            <li key={`${kind} ${state} ${page}`}>
              <Icon size={18} color={severity === 'error' ? 'var(--bad)' : 'var(--wait)'} aria-label={severity} />
              {mayOpen(me, page) ? (
                <Link to={routeOf(page)}>{words.problems.texts[kind](count)}</Link>
              ) : (
                <span>{words.problems.texts[kind](count)}</span>
              )}
              <span className="muted small">{names.join(', ')}</span>
              {since !== null && (
                <span className="faint small">
                  {words.problems.since} <RelativeTime at={since} />
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function firstMailAt(steps: readonly Step[] | undefined): string | null {
  return steps?.find(({ name }) => name === 'test_send')?.done_at ?? null;
}

function LastFigures({
  summary,
  begun_at,
}: {
  readonly summary: Summary;
  /** When the very first email was sent. */
  readonly begun_at: string | null;
}) {
  const { totals, accept_to_delivered_p95_seconds: p95, waiting, complete_until } = summary;
  const { accepted, delivered, captured, bounced, failed } = totals;
  const text = words.figures;
  // Counts are computed every minute. Showing 0 before the first count would be wrong.
  const uncounted = begun_at !== null && begun_at >= complete_until;
  const count = (value: number) => (uncounted ? text.unknown : value.toLocaleString('en'));
  const figures: readonly (readonly [string, string])[] = [
    [text.accepted, count(accepted)],
    [text.delivered, count(delivered - captured)],
    ...(captured > 0 ? [[text.captured, count(captured)] as const] : []),
    [text.bounced, count(bounced)],
    [text.failed, count(failed)],
    [text.p95, p95 === null ? text.unknown : p95 < 60 ? `${p95.toFixed(1)} s` : span(p95)],
    [text.waiting, waiting.count.toLocaleString('en')],
  ];
  return (
    <Panel title={text.title} bare>
      <Figures all={figures} />
      <p className="pad muted small">
        {uncounted ? (
          text.uncounted
        ) : (
          <>
            {text.complete} <RelativeTime at={complete_until} />
          </>
        )}
      </p>
    </Panel>
  );
}

/** Shows the chart from Stats. Each point links to its email. */
function LastDay() {
  const { view = 'chart' } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const setView = (name: ChartView) => void navigate({ search: name === 'table' ? { view: name } : {}, replace: true });
  const hour = useNow(HOUR_MS);
  const since = new Date(hour - 23 * HOUR_MS).toISOString();
  const stats = useQuery(trpc.stats.get.queryOptions({ since, step: 'hour' }));
  return <QueryView query={stats}>{(data) => <MailChart stats={data} view={view} onView={setView} />}</QueryView>;
}

function Quota({ usage }: { readonly usage: Summary['usage'] }) {
  const { limit, used, projected_end_of_month } = usage;
  const share = limit === null ? 0 : Math.min(1, used / limit);
  const summary =
    limit === null
      ? words.quota.unlimited(used.toLocaleString('en'))
      : words.quota.used(used.toLocaleString('en'), limit.toLocaleString('en'));
  return (
    <Panel title={words.quota.title}>
      <div className="stack-s">
        <p>{summary}</p>
        {limit !== null && <meter className="quota" aria-label={summary} min={0} max={1} value={share} high={0.8} />}
        <p className="muted small">{words.quota.projected(projected_end_of_month.toLocaleString('en'))}</p>
      </div>
    </Panel>
  );
}
