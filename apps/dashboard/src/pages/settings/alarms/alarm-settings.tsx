import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel, QueryView } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { ShowWebhookSecret } from '../../webhooks/show-webhook-secret.tsx';
import { AlarmSecret } from './alarm-secret.tsx';
import { AlarmTest } from './alarm-test.tsx';
import { words } from './strings.ts';

type Settings = Outputs['alarms']['settings'];
type Format = Settings['webhook_format'];

/** Says where alerts of the workspace or of the instance are sent. */
export function AlarmSettings({ access }: { readonly access: Settings['access'] }) {
  const settings = useQuery(trpc.alarms.settings.queryOptions({ access }));
  return <QueryView query={settings}>{(data) => <SettingsForm key={access} settings={data} />}</QueryView>;
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const [url, setUrl] = useState(settings.webhook_url ?? '');
  // Null until a format is chosen; the server then derives the same format from the URL.
  const [chosen, setChosen] = useState<Format | null>(null);
  const format = chosen ?? (url === settings.webhook_url ? settings.webhook_format : formatOf(url));
  const save = useMutation(
    trpc.alarms.setSettings.mutationOptions({
      onSuccess: () => toast(words.saved),
    }),
  );
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
      webhook_format: format,
      from: text('from') || null,
      quiet_from: text('quiet_from') || null,
      quiet_until: text('quiet_until') || null,
    });
  };
  return (
    <Panel title={words.form}>
      <div className="stack-l">
        <Form label={words.form} onSubmit={submit} fault={problem}>
          {problem && problem.fields.size === 0 && <ErrorPanel error={save.error} />}
          <Field label={words.emails} name="emails" about={words.emailsAbout} problem={fault('emails')}>
            {(control) => (
              <input {...control} className="input" autoComplete="off" defaultValue={settings.emails.join(', ')} />
            )}
          </Field>
          <Field label={words.webhook} name="webhook_url" about={words.webhookAbout} problem={fault('webhook_url')}>
            {(control) => (
              <input
                {...control}
                className="input mono"
                autoComplete="off"
                value={url}
                onChange={(event) => setUrl(event.currentTarget.value)}
              />
            )}
          </Field>
          {url.trim() !== '' && (
            <div className="field">
              <span className="label">{words.format}</span>
              <Choices<Format>
                label={words.format}
                options={[
                  ['json', words.formats.json.name],
                  ['slack', words.formats.slack.name],
                ]}
                value={format}
                onChange={setChosen}
              />
              <p className="about">{words.formats[format].about}</p>
            </div>
          )}
          <Field label={words.from} name="from" about={words.fromAbout} problem={fault('from')}>
            {(control) => (
              <input {...control} className="input" autoComplete="off" defaultValue={settings.from ?? ''} />
            )}
          </Field>
          <div className="line low">
            <Field label={words.quietFrom} name="quiet_from" problem={fault('quiet_from')}>
              {(control) => (
                <input {...control} className="input" type="time" defaultValue={settings.quiet_from ?? ''} />
              )}
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
        {settings.webhook_url !== null && settings.webhook_format === 'json' && <AlarmSecret settings={settings} />}
        <AlarmTest access={settings.access} />
      </div>
      {save.data?.webhook_secret != null && (
        <ShowWebhookSecret secret={save.data.webhook_secret} onClose={save.reset} />
      )}
    </Panel>
  );
}

/** Recognizes the URLs whose receiver accepts only Slack's format, while they are typed. */
function formatOf(url: string): Format {
  return /^https:\/\/(?:hooks\.slack\.com\/|(?:[\w-]+\.)?discord(?:app)?\.com\/.*\/slack$)/.test(url.trim())
    ? 'slack'
    : 'json';
}
