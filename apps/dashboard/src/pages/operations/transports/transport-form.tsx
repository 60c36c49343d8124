import { type ReactNode, useState } from 'react';
import { client, type Inputs, queries, trpc } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Choices, Field } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Reach } from '../reach/use-reach.ts';
import { HeaderRows, headerProblem, headersIn } from './header-rows.tsx';
import { words } from './strings.ts';
import type { Transport } from './transport.ts';

type Created = Inputs['transports']['create'];

const text = words.form;
const kinds = [
  ['smtp', words.kinds.smtp],
  ['mx', words.kinds.mx],
] as const;
const DEFAULT_PORT = 587;

/** Creates a transport or changes an existing one. */
export function TransportForm({
  reach,
  transport,
  onClose,
}: {
  readonly reach: Reach;
  /** Null creates a new transport. */
  readonly transport: Transport | null;
  readonly onClose: () => void;
}) {
  const [kind, setKind] = useState<'mx' | 'smtp'>(transport?.kind === 'mx' ? 'mx' : 'smtp');
  const save = async (form: FormData) => {
    const settings = settingsOf(form, kind);
    const result = await (transport === null
      ? client.transports.create.mutate({ ...settings, kind, reach })
      : client.transports.update.mutate({ ...settings, transport_id: transport.id }));
    // The form would open with the earlier values until the list is fetched again.
    await queries.invalidateQueries({ queryKey: trpc.transports.list.queryKey({ reach }) });
    return result;
  };
  return (
    <FormDialog
      title={transport === null ? text.creating : text.editing(transport.name)}
      submit={transport === null ? text.submitNew : text.submit}
      run={save}
      onDone={({ name }) => toast(transport === null ? text.created(name) : text.changed(name))}
      onClose={onClose}
    >
      {(problems) => (
        <>
          {transport === null && reach === 'instance' && (
            <div className="field">
              <span className="label">{text.kind}</span>
              <Choices label={text.kind} options={kinds} value={kind} onChange={setKind} />
            </div>
          )}
          <Field label={text.name} name="name" problem={problems.get('name')}>
            {(control) => (
              <input
                {...control}
                className="input"
                autoComplete="off"
                maxLength={100}
                defaultValue={transport?.name}
                required
                autoFocus
              />
            )}
          </Field>
          {kind === 'smtp' && <RelayFields transport={transport} problems={problems} />}
          <Select
            label={text.signing}
            name="signing"
            options={text.signingPolicies}
            value={transport?.signing ?? ''}
            empty={transport === null ? text.automatic : undefined}
          />
          <Select
            label={text.envelope}
            name="envelope_from"
            options={text.envelopes}
            value={transport?.envelope_from ?? 'ours'}
          />
          {(
            [
              ['messages_per_minute', text.perMinute],
              ['messages_per_day', text.perDay],
              ['max_connections', text.connections],
            ] as const
          ).map(([name, label]) => (
            <Field key={name} label={label} name={name} about={text.limitAbout} problem={problems.get(name)}>
              {(control) => (
                <input {...control} className="input" type="number" min={1} defaultValue={transport?.[name] ?? ''} />
              )}
            </Field>
          ))}
          <HeaderRows headers={transport?.headers ?? {}} problem={headerProblem(problems)} />
        </>
      )}
    </FormDialog>
  );
}

function RelayFields({
  transport,
  problems,
}: {
  readonly transport: Transport | null;
  readonly problems: ReadonlyMap<string, string>;
}) {
  return (
    <>
      <Field label={text.host} name="host" about={text.hostAbout} problem={problems.get('host')}>
        {(control) => (
          <input {...control} className="input mono" autoComplete="off" defaultValue={transport?.host ?? ''} required />
        )}
      </Field>
      <Field label={text.port} name="port" problem={problems.get('port')}>
        {(control) => (
          <input
            {...control}
            className="input"
            type="number"
            min={1}
            max={65_535}
            defaultValue={transport?.port ?? DEFAULT_PORT}
          />
        )}
      </Field>
      <Select label={text.tls} name="tls" options={text.tlsPolicies} value={transport?.tls ?? 'starttls'} />
      <Field label={text.username} name="username" about={text.usernameAbout} problem={problems.get('username')}>
        {(control) => (
          <input {...control} className="input mono" autoComplete="off" defaultValue={transport?.username ?? ''} />
        )}
      </Field>
      <Field
        label={text.password}
        name="password"
        about={transport?.username ? text.passwordKept : text.passwordAbout}
        problem={problems.get('password')}
      >
        {(control) => <input {...control} className="input" type="password" autoComplete="new-password" />}
      </Field>
    </>
  );
}

export function Select({
  label,
  name,
  options,
  value,
  empty,
  about: description,
}: {
  readonly label: string;
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly value: string;
  /** The word for no choice; absent if one has to be chosen. */
  readonly empty?: string | undefined;
  readonly about?: ReactNode;
}) {
  return (
    <Field label={label} name={name} about={description}>
      {(control) => (
        <select {...control} className="input" defaultValue={value}>
          {empty !== undefined && <option value="">{empty}</option>}
          {Object.entries(options).map(([option, word]) => (
            <option key={option} value={option}>
              {word}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function settingsOf(form: FormData, kind: 'mx' | 'smtp'): Omit<Created, 'kind' | 'reach'> {
  const read = (name: string) => String(form.get(name) ?? '').trim();
  const limit = (name: string) => (read(name) === '' ? null : Number(read(name)));
  // The casts are safe because the options of the selects are the values of the schema.
  return {
    name: read('name'),
    ...(kind === 'smtp' && {
      host: read('host'),
      port: Number(read('port')),
      tls: read('tls') as NonNullable<Created['tls']>,
      username: read('username') || null,
      ...(form.get('password') !== '' && { password: String(form.get('password')) }),
    }),
    ...(read('signing') !== '' && { signing: read('signing') as NonNullable<Created['signing']> }),
    envelope_from: read('envelope_from') as NonNullable<Created['envelope_from']>,
    headers: headersIn(form),
    messages_per_minute: limit('messages_per_minute'),
    messages_per_day: limit('messages_per_day'),
    max_connections: limit('max_connections'),
  };
}
