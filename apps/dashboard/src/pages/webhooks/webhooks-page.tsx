import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useProblemCount } from '../../api/problems.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { type Column, List } from '../../parts/list.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { Empty, QueryView } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { RelativeTime } from '../../parts/times.tsx';
import { CreateWebhook } from './edit-webhook.tsx';
import { ResponseTime, SuccessRate, useQuality } from './quality.tsx';
import { words } from './strings.ts';
import { WebhookState } from './webhook-state.tsx';

export type Webhook = Outputs['webhooks']['list']['data'][number];

export function WebhooksPage() {
  const { open } = useSearch({ from: '/shell/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const webhooks = useQuery(trpc.webhooks.list.queryOptions({ limit: 100 }));
  const quality = useQuality(webhooks.data?.data.map(({ id }) => id) ?? []);
  const create = (
    <Button kind="primary" needs="webhooks:manage" onClick={() => void navigate({ search: { open: 'new' } })}>
      <Plus size={15} />
      {words.create}
    </Button>
  );
  const failing = useProblemCount('webhook');
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={webhooks.data && failing !== undefined && answerOf(webhooks.data.data, failing)}
        actions={create}
      />
      <QueryView query={webhooks}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty.title}>
              <p>{words.empty.about}</p>
              <CodeBlock
                text="npx postrider webhooks listen --forward-to http://localhost:4000/hooks"
                what={parts.texts.command}
              />
              <a href="/docs/webhooks#types">{words.catalogue}</a>
              {create}
            </Empty>
          ) : (
            <List
              label={words.title}
              columns={columnsWith(quality)}
              rows={data}
              idOf={({ id }) => id}
              nameOf={({ url }) => url}
              onOpen={({ id }) => void navigate({ to: '/webhooks/$id', params: { id } })}
            />
          )
        }
      </QueryView>
      {open === 'new' && <CreateWebhook onClose={() => void navigate({ search: {}, replace: true })} />}
    </Page>
  );
}

function answerOf(webhooks: readonly Webhook[], failing: number): string {
  const live = webhooks.filter(({ status }) => status === 'enabled');
  if (failing > 0) return words.answer.failing(failing);
  if (live.length === 0) return words.answer.none;
  const unused = live.filter(({ last_success_at }) => last_success_at === null).length;
  return unused > 0 ? words.answer.fresh(unused) : words.answer.well(live.length);
}

const { url, events, state, rate, p95, success } = words.columns;
const columnsWith = (quality: ReturnType<typeof useQuality>): readonly Column<Webhook>[] => [
  {
    name: url,
    show: (row) => (
      <Link to="/webhooks/$id" params={{ id: row.id }} className="mono small" title={row.description ?? row.url}>
        {row.url}
      </Link>
    ),
  },
  {
    name: events,
    width: '22%',
    less: 'unless-wide',
    show: (row) => {
      const text = row.events === 'all' ? words.allEvents : row.events.join(', ');
      return <span title={text}>{text}</span>;
    },
  },
  {
    name: state,
    width: 'fit',
    show: (row) => <WebhookState webhook={row} tried={(quality.get(row.id)?.attempts ?? 0) > 0} />,
  },
  { name: rate, width: 'fit', end: true, show: ({ id }) => <SuccessRate quality={quality.get(id)} /> },
  { name: p95, width: 'fit', end: true, less: true, show: ({ id }) => <ResponseTime quality={quality.get(id)} /> },
  {
    name: success,
    width: 'fit',
    less: true,
    show: ({ last_success_at }) =>
      last_success_at === null ? <span className="faint">{words.never}</span> : <RelativeTime at={last_success_at} />,
  },
];
