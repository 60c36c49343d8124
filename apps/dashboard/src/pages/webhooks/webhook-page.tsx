import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ban, Code, EllipsisVertical, Pencil, Play, RefreshCw, RotateCcw, Send, Trash2 } from 'lucide-react';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/field.tsx';
import { useKeyset } from '../../parts/keyset.ts';
import { KeysetList } from '../../parts/list.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Facts, Page, PageHeader, Panel } from '../../parts/page.tsx';
import { Empty, ErrorPanel, QueryView } from '../../parts/states.tsx';
import { ExactTime, RelativeTime } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import { columnsWith, DeliveryDrawer } from './deliveries.tsx';
import { EditWebhook } from './edit-webhook.tsx';
import { type Quality, QualityLine, useQuality } from './quality.tsx';
import { type DeliveryState, deliveryStates, type WebhookDialog } from './search.ts';
import { words } from './strings.ts';
import { useSubjects } from './use-subjects.ts';
import { VerifyDrawer } from './verify/verify-drawer.tsx';
import { DeleteWebhook, RecoverWebhook, RotateWebhook } from './webhook-dialogs.tsx';
import { WebhookState } from './webhook-state.tsx';

type Webhook = Outputs['webhooks']['get'];

export function WebhookPage() {
  const { id } = useParams({ from: '/shell/webhooks/$id' });
  const webhook = useQuery(trpc.webhooks.get.queryOptions({ id }));
  return (
    <Page>
      <QueryView query={webhook} head={<PageHeader title={words.detail.title} />}>
        {(data) => <WebhookView webhook={data} />}
      </QueryView>
    </Page>
  );
}

function WebhookView({ webhook }: { readonly webhook: Webhook }) {
  const { id } = webhook;
  const search = useSearch({ from: '/shell/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const { status = 'all' as const } = search;
  const quality = useQuality([id]).get(id);
  const list = useKeyset(trpc.deliveries.list, { id, limit: 50, ...(status !== 'all' && { status }) });
  // The list is polled more often than the quality.
  const tried = (quality?.attempts ?? 0) > 0 || (list.rows ?? []).some(({ attempts }) => attempts > 0);
  const subjects = useSubjects(list.rows?.map(({ event_id }) => event_id) ?? []);
  const test = useMutation(trpc.webhooks.test.mutationOptions({ onSuccess: () => toast(words.detail.tested) }));
  const status_filter = status === 'all' ? {} : { status };
  const open = (dialog: WebhookDialog) => void navigate({ search: { ...status_filter, open: dialog } });
  const close = () => void navigate({ search: status_filter, replace: true });
  return (
    <>
      <PageHeader
        title={<span className="mono">{webhook.url}</span>}
        name={webhook.url}
        answer={<WebhookState webhook={webhook} tried={tried} />}
        actions={<Actions webhook={webhook} test={test} open={open} />}
      />
      {test.error !== null && <ErrorPanel error={test.error} />}
      <Endpoint webhook={webhook} quality={quality} />
      <Choices<DeliveryState | 'all'>
        label={words.detail.filter}
        options={(['all', ...deliveryStates] as const).map((name) => [name, words.detail.states[name]])}
        value={status}
        onChange={(name) => void navigate({ search: name === 'all' ? {} : { status: name } })}
      />
      <KeysetList
        label={words.detail.deliveries}
        list={list}
        columns={columnsWith(subjects)}
        idOf={(row) => row.id}
        nameOf={({ event_type, event_id }) => `${event_type} ${event_id}`}
        freshWord={words.newRows}
        onOpen={(row) => void navigate({ search: { ...status_filter, delivery: row.id } })}
        empty={
          <Empty title={words.detail.deliveries}>
            <p>{words.detail.noDeliveries}</p>
          </Empty>
        }
      />
      {search.delivery !== undefined && <DeliveryDrawer webhook_id={id} id={search.delivery} onClose={close} />}
      {search.open === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {search.open === 'rotate' && <RotateWebhook id={id} onClose={close} />}
      {search.open === 'recover' && <RecoverWebhook id={id} onClose={close} />}
      {search.open === 'verify' && (
        <VerifyDrawer
          format={webhook.format}
          language={search.in ?? 'typescript'}
          onLanguage={(name) => void navigate({ search: (before) => ({ ...before, in: name }), replace: true })}
          onClose={close}
        />
      )}
      {search.open === 'delete' && <DeleteWebhook webhook={webhook} onClose={close} />}
    </>
  );
}

interface ActionsProps {
  readonly webhook: Webhook;
  readonly test: { readonly isPending: boolean; mutate(input: { id: string }): void };
  readonly open: (dialog: WebhookDialog) => void;
}

function Actions({ webhook, test, open }: ActionsProps) {
  const { id, status } = webhook;
  const turn = useMutation(trpc.webhooks.update.mutationOptions());
  const items = [
    ['edit', Pencil, words.detail.edit],
    ['rotate', RefreshCw, words.detail.rotate],
    ['recover', RotateCcw, words.detail.recover],
  ] as const;
  return (
    <>
      <Button onClick={() => open('verify')}>
        <Code size={15} />
        {words.verify.open}
      </Button>
      <Button needs="webhooks:manage" busy={test.isPending} onClick={() => test.mutate({ id })}>
        <Send size={15} />
        {words.detail.test}
      </Button>
      <Menu label={words.detail.more} className="button icon" button={<EllipsisVertical size={15} />}>
        {items.map(([name, Icon, word]) => (
          <MenuItem key={name} onSelect={() => open(name)}>
            <Icon size={14} />
            {word}
          </MenuItem>
        ))}
        <MenuItem onSelect={() => turn.mutate({ id, status: status === 'enabled' ? 'disabled' : 'enabled' })}>
          {status === 'enabled' ? <Ban size={14} /> : <Play size={14} />}
          {status === 'enabled' ? words.detail.disable : words.detail.enable}
        </MenuItem>
        <MenuItem onSelect={() => open('delete')}>
          <Trash2 size={14} />
          {words.detail.remove}
        </MenuItem>
      </Menu>
    </>
  );
}

function Endpoint({ webhook, quality }: { readonly webhook: Webhook; readonly quality: Quality | undefined }) {
  const { description, events, format, mode, secret_last4 } = webhook;
  const { previous_secret_until, failing_since, paused_until } = webhook;
  return (
    <Panel title={words.detail.facts}>
      <Facts
        rows={[
          [words.detail.about, description],
          [words.columns.events, events === 'all' ? words.allEvents : events.join(', ')],
          [words.detail.format, words.formats[format]],
          [words.detail.mode, mode],
          [words.detail.secret, <span key="secret" className="mono">{`…${secret_last4}`}</span>],
          [words.detail.previous, previous_secret_until && <ExactTime key="previous" at={previous_secret_until} />],
          [words.quality.title, quality && <QualityLine key="quality" quality={quality} />],
          [words.detail.failing, failing_since && <RelativeTime key="failing" at={failing_since} />],
          [words.detail.paused, paused_until && <RelativeTime key="paused" at={paused_until} upcoming />],
          [
            words.detail.plan,
            <ul key="plan">
              {words.detail.planSteps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ul>,
          ],
        ]}
      />
    </Panel>
  );
}
