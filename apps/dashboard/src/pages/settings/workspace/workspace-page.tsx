import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { ChartPanel } from '../../../parts/charts/chart-panel.tsx';
import { Id } from '../../../parts/copy.tsx';
import { Facts, Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { ExactTime } from '../../../parts/times.tsx';
import { ownLimit } from '../../operations/transports/transport.ts';
import { DeliveryMode } from './delivery-mode.tsx';
import { words } from './strings.ts';
import { WorkspaceForm } from './workspace-form.tsx';

type Workspace = Outputs['workspaces']['get'];
type Usage = Outputs['usage']['get'];

const count = (value: number) => Math.round(value).toLocaleString('en');

export function WorkspacePage() {
  const workspace = useQuery(trpc.workspaces.get.queryOptions({}));
  const usage = useQuery(trpc.usage.get.queryOptions({}));
  const retention = useQuery(trpc.workspaces.retention.queryOptions({}));
  return (
    <Page>
      <PageHeader title={words.title} answer={usage.data && answerOf(usage.data)} />
      <QueryView query={workspace}>
        {(data) => (
          <>
            <WorkspaceForm key={`${data.name} ${data.unknown_policy}`} workspace={data} />
            <Plan plan={data.plan} use={usage.data?.plan_use ?? null} />
          </>
        )}
      </QueryView>
      <QueryView query={usage}>{(data) => <MonthChart usage={data} />}</QueryView>
      <QueryView query={retention}>{(data) => <DeliveryMode retention={data} />}</QueryView>
      {workspace.data && (
        <Panel title={words.facts.title}>
          <Facts
            rows={[
              [words.facts.id, <Id key="id" id={workspace.data.id} whole />],
              [words.facts.created, <ExactTime key="at" at={workspace.data.created_at} />],
            ]}
          />
        </Panel>
      )}
    </Page>
  );
}

function answerOf({ used, limit, resets_at }: Pick<Usage, 'used' | 'limit' | 'resets_at'>): string {
  return limit === null
    ? words.answer.unlimited(count(used))
    : words.answer.limited(count(used), count(limit), resets_at.slice(0, 10));
}

/** Null while loading. */
type PlanUse = Usage['plan_use'] | null;

function Plan({ plan, use }: Pick<Workspace, 'plan'> & { readonly use: PlanUse }) {
  const text = words.planFacts;
  return (
    <Panel title={words.plan}>
      <div className="stack">
        <Facts
          rows={[
            [text.name, plan.name],
            [text.monthly, plan.monthly_emails === null ? text.none : count(plan.monthly_emails)],
            [text.recipients, count(plan.recipients_per_request)],
            [text.send, count(plan.send_per_minute)],
            [text.logs, count(plan.logs_per_minute)],
            [text.other, count(plan.default_per_minute)],
            [text.sandboxLogs, count(plan.sandbox_logs_per_minute)],
            [text.sandboxOther, count(plan.sandbox_default_per_minute)],
            ...heldRows(use),
          ]}
        />
        <p className="muted small">{words.planAbout}</p>
      </div>
    </Panel>
  );
}

function heldRows(use: PlanUse): (readonly [string, string])[] {
  if (use === null) return [];
  const text = words.planFacts;
  const label = ({ used, limit }: Usage['plan_use']['domains']) =>
    text.held(count(used), limit === null ? null : count(limit));
  return [
    [text.workspaceRate, use.workspace_rate.limit === null ? text.none : label(use.workspace_rate)],
    [text.apiKeys, label(use.api_keys)],
    [text.domains, label(use.domains)],
    [text.webhooks, label(use.webhooks)],
    [text.members, label(use.members)],
    [text.transports, label({ ...use.transports, limit: ownLimit(use) })],
    [text.captureBytes, label(use.capture_bytes)],
  ];
}

function MonthChart({ usage }: { readonly usage: Outputs['usage']['get'] }) {
  const { view = 'chart' } = useSearch({ from: '/shell/settings/general' });
  const navigate = useNavigate({ from: '/settings/general' });
  return (
    <ChartPanel
      title={words.usage}
      file={`usage-${usage.month}`}
      timeWord={words.day}
      times={usage.by_day.map(({ date }) => date)}
      series={[{ name: words.used, tone: 'accent', values: usage.by_day.map(({ used }) => used) }]}
      format={count}
      view={view}
      onView={(name) => void navigate({ search: name === 'table' ? { view: name } : {}, replace: true })}
    />
  );
}
