import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { may, useMe } from '../../../api/me.ts';
import { problemOf } from '../../../api/problem.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { ErrorPanel, Notice, QueryView } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Settings = Outputs['alarms']['settings'];
type Side = Settings['access'];

export function AlarmsPage() {
  const me = useMe();
  const { side } = useSearch({ from: '/shell/settings/alarms' });
  const navigate = useNavigate({ from: '/settings/alarms' });
  const operator = may(me, 'operator');
  const allowed = may(me, 'admin') || operator;
  const access: Side = operator && (side === 'instance' || !may(me, 'admin')) ? 'instance' : 'workspace';
  const settings = useQuery(trpc.alarms.settings.queryOptions({ access }, { enabled: allowed }));
  return (
    <Page>
      <PageHeader title={words.title} answer={settings.data && answerOf(settings.data)} />
      {!allowed && (
        <Notice tone="calm">
          <p>{words.denied}</p>
        </Notice>
      )}
      {operator && (
        <Choices<Side>
          label={words.whose}
          options={[
            ['workspace', words.sides.workspace],
            ['instance', words.sides.instance],
          ]}
          value={access}
          onChange={(name) => void navigate({ search: name === 'instance' ? { side: name } : {} })}
        />
      )}
      {allowed && <QueryView query={settings}>{(data) => <SettingsForm key={access} settings={data} />}</QueryView>}
      <p className="muted small">
        <Link to="/operations/health">{words.list}</Link>
      </p>
    </Page>
  );
}

function answerOf({ emails, webhook_url }: Settings): string {
  const to = [...emails, ...(webhook_url === null ? [] : [new URL(webhook_url).host])];
  return to.length === 0 ? words.answer.none : words.answer.some(to.join(', '));
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const save = useMutation(trpc.alarms.setSettings.mutationOptions({ onSuccess: () => toast(words.saved) }));
  const problem = save.error && problemOf(save.error);
  const fault = (name: string) =>
    problem ? [...problem.fields].find(([param]) => param.startsWith(name))?.[1] : undefined;
  const submit = (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? '').trim();
    if (save.isPending) return;
    save.mutate({
      access: settings.access,
      emails: text('emails')
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean),
      webhook_url: text('webhook_url') || null,
      from: text('from') || null,
      quiet_from: text('quiet_from') || null,
      quiet_until: text('quiet_until') || null,
    });
  };
  return (
    <Panel title={words.form}>
      <Form label={words.form} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={save.error} />}
        <Field label={words.emails} name="emails" about={words.emailsAbout} problem={fault('emails')}>
          {(control) => (
            <input {...control} className="input" autoComplete="off" defaultValue={settings.emails.join(', ')} />
          )}
        </Field>
        <Field label={words.webhook} name="webhook_url" about={words.webhookAbout} problem={fault('webhook_url')}>
          {(control) => (
            <input {...control} className="input mono" autoComplete="off" defaultValue={settings.webhook_url ?? ''} />
          )}
        </Field>
        <Field label={words.from} name="from" about={words.fromAbout} problem={fault('from')}>
          {(control) => <input {...control} className="input" autoComplete="off" defaultValue={settings.from ?? ''} />}
        </Field>
        <div className="line low">
          <Field label={words.quietFrom} name="quiet_from" problem={fault('quiet_from')}>
            {(control) => <input {...control} className="input" type="time" defaultValue={settings.quiet_from ?? ''} />}
          </Field>
          <Field label={words.quietUntil} name="quiet_until" problem={fault('quiet_until')}>
            {(control) => (
              <input {...control} className="input" type="time" defaultValue={settings.quiet_until ?? ''} />
            )}
          </Field>
        </div>
        <p className="muted small">{words.quietAbout}</p>
        <div>
          <button type="submit" className="button primary" aria-busy={save.isPending}>
            {words.save}
          </button>
        </div>
      </Form>
    </Panel>
  );
}
