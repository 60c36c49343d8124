import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Circle, CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import { type Me, may, useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import type { Tone } from '../../parts/badge.tsx';
import { Sparkline } from '../../parts/charts/chart.tsx';
import type { ChartView } from '../../parts/charts/chart-panel.tsx';
import { useNow } from '../../parts/clock.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { type Figure, Figures, Page, PageHeader, Panel } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { RelativeTime, span } from '../../parts/times.tsx';
import { MailChart, valuesOf } from '../stats/mail-chart.tsx';
import { shareOf } from '../stats/ranges.ts';
import { programIn } from './first-email.ts';
import { type Language, languages } from './languages.ts';
import './overview.css';
import { locate } from '../../shell/navigation.ts';
import { routeOf } from '../../shell/paths.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];
type Summary = Outputs['overview']['summary'];
type Problem = Summary['problems'][number];
type Step = Outputs['onboarding']['state']['steps'][number];

const HOUR_MS = 3_600_000;

export function OverviewPage() {
  const summary = useQuery(trpc.overview.summary.queryOptions({}));
  const steps = useQuery(trpc.onboarding.state.queryOptions({}));
  const hour = useNow(HOUR_MS);
  const since = new Date(hour - 23 * HOUR_MS).toISOString();
  const stats = useQuery(trpc.stats.get.queryOptions({ since, step: 'hour' }));
  const first_mail_at = firstMailAt(steps.data?.steps);
  return (
    <Page>
      <PageHeader title={words.title} answer={summary.data && answerOf(summary.data)} />
      <QueryView query={steps}>
        {(onboarding) => (
          <>
            {!onboarding.done && <FirstSteps steps={onboarding.steps} />}
            {first_mail_at === null && <FirstEmail />}
          </>
        )}
      </QueryView>
      <QueryView query={summary}>
        {(overview) => (
          <>
            {overview.problems.length > 0 && <Problems problems={overview.problems} />}
            {first_mail_at !== null && (
              <>
                <LastFigures summary={overview} stats={stats.data} begun_at={first_mail_at} />
                <Quota usage={overview.usage} />
              </>
            )}
          </>
        )}
      </QueryView>
      {first_mail_at !== null && <LastDay stats={stats} />}
    </Page>
  );
}

/** Shows programs that send the first email, in the language of the choice. */
function FirstEmail() {
  const { code = 'curl' } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const text = words.first;
  return (
    <Panel title={text.title}>
      <div className="stack">
        <p>{text.about}</p>
        <Tabs
          label={text.title}
          value={code}
          onChange={(language) => void navigate({ search: (search) => ({ ...search, code: language }), replace: true })}
          tabs={languages.map(
            (name): Tab<Language> => ({
              name,
              word: text.languages[name],
              show: () => <CodeBlock text={programIn(name, location.origin)} what={parts.texts.request} />,
            }),
          )}
        />
      </div>
    </Panel>
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
                  <RelativeTime at={since} lasting />
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
  stats,
  begun_at,
}: {
  readonly summary: Summary;
  /** The same day by hour, once it is loaded. */
  readonly stats: Stats | undefined;
  /** When the very first email was sent. */
  readonly begun_at: string;
}) {
  const { totals, accept_to_delivered_p95_seconds: p95, waiting, complete_until } = summary;
  const { accepted, delivered, captured, bounced, failed } = totals;
  const text = words.figures;
  // Counts are computed every minute. Showing 0 before the first count would be wrong.
  const uncounted = begun_at >= complete_until;
  const counted = (name: string, metric: string, value: number, tone: Tone | 'accent'): Figure => ({
    name,
    value: uncounted ? text.unknown : value.toLocaleString('en'),
    ...(!uncounted && metric !== 'accepted' && accepted > 0 && { note: shareOf(value, accepted) }),
    line: <Sparkline values={stats ? valuesOf(stats, metric) : []} tone={tone} />,
  });
  const figures: readonly Figure[] = [
    counted(text.accepted, 'accepted', accepted, 'info'),
    counted(text.delivered, 'delivered', delivered - captured, 'good'),
    ...(captured > 0 ? [counted(text.captured, 'captured', captured, 'accent')] : []),
    counted(text.bounced, 'bounced', bounced, 'bad'),
    counted(text.failed, 'failed', failed, 'calm'),
    { name: text.p95, value: p95 === null ? text.unknown : p95 < 60 ? `${p95.toFixed(1)} s` : span(p95) },
    { name: text.waiting, value: waiting.count.toLocaleString('en') },
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

/** Shows the chart from Metrics. Each bar links to its email. */
function LastDay({ stats }: { readonly stats: UseQueryResult<Stats, unknown> }) {
  const { view = 'chart' } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const setView = (name: ChartView) => void navigate({ search: name === 'table' ? { view: name } : {}, replace: true });
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
