import { useState } from 'react';
import { may, type Scope, useMe } from '../../../api/me.ts';
import { problemOf } from '../../../api/problem.ts';
import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { SameByApi } from '../../../parts/calls/same-by-api.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Check, Choices, Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { useSecret } from '../../../parts/use-secret.ts';
import type { MadeKey } from './key.ts';
import { ShowSecret } from './show-secret.tsx';
import { presets, scopeMeanings, words } from './strings.ts';

const modes = ['live', 'sandbox'] as const;

export function CreateKey({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const me = useMe();
  const secret = useSecret<MadeKey>();
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(presets.send));
  const [mode, setMode] = useState<(typeof modes)[number]>('live');
  const [missing, setMissing] = useState<{ readonly name?: string; readonly scopes?: string }>({});
  if (secret.made) {
    const close = () => {
      onMade();
      onClose();
    };
    return <ShowSecret made={secret.made} onClose={close} />;
  }
  const problem = secret.error === null ? null : problemOf(secret.error);
  const submit = (form: FormData) => {
    const name = String(form.get('name') ?? '').trim();
    const domains = String(form.get('domains') ?? '')
      .split(/[\s,]+/)
      .filter(Boolean);
    const found = {
      ...(name === '' && { name: words.dialog.noName }),
      ...(scopes.size === 0 && { scopes: words.dialog.noScope }),
    };
    setMissing(found);
    if (Object.keys(found).length > 0) return;
    secret.run(() =>
      client.apiKeys.create.mutate({ name, scopes: [...scopes], mode, domains: domains.length > 0 ? domains : null }),
    );
  };
  const toggle = (scope: Scope, on: boolean) => {
    const next = new Set(scopes);
    if (on) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };
  const grantable = (Object.keys(scopeMeanings) as Scope[]).filter((scope) => may(me, scope));
  return (
    <Dialog title={words.dialog.title} onClose={onClose}>
      <Form label={words.dialog.title} onSubmit={submit} fault={problem ?? missing}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={secret.error} />}
        <Field
          label={words.dialog.name}
          name="name"
          about={words.dialog.nameAbout}
          problem={missing.name ?? problem?.fields.get('name')}
        >
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={100} required autoFocus />}
        </Field>
        <div className="field">
          <span className="label">{words.dialog.preset}</span>
          <Choices
            label={words.dialog.preset}
            options={(Object.keys(presets) as (keyof typeof presets)[]).map((name) => [
              name,
              words.dialog.presets[name],
            ])}
            value={presetOf(scopes)}
            onChange={(name) => setScopes(new Set(presets[name]))}
          />
        </div>
        <fieldset className="field">
          <legend>{words.dialog.scopes}</legend>
          {grantable.map((scope) => (
            <Check
              key={scope}
              name="scopes"
              value={scope}
              label={<code>{scope}</code>}
              about={scopeMeanings[scope]}
              checked={scopes.has(scope)}
              onChange={(on) => toggle(scope, on)}
            />
          ))}
          {missing.scopes !== undefined && <p className="problem">{missing.scopes}</p>}
        </fieldset>
        <div className="field">
          <span className="label">{words.dialog.mode}</span>
          <Choices
            label={words.dialog.mode}
            options={modes.map((name) => [name, words.dialog.modes[name]])}
            value={mode}
            onChange={setMode}
          />
          <p className="about">{mode === 'sandbox' ? words.sandboxAbout : words.dialog.modeAbout}</p>
        </div>
        <Field
          label={words.dialog.domains}
          name="domains"
          about={words.dialog.domainsAbout}
          problem={[...(problem?.fields ?? [])].find(([path]) => path.startsWith('domains'))?.[1]}
        >
          {(control) => <input {...control} className="input" autoComplete="off" placeholder="example.com" />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.dialog.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={secret.busy}>
            {words.dialog.submit}
          </button>
        </div>
      </Form>
      <SameByApi call={calls.createKey([...scopes], mode)} />
    </Dialog>
  );
}

function presetOf(scopes: ReadonlySet<Scope>): keyof typeof presets | null {
  const names = Object.keys(presets) as (keyof typeof presets)[];
  return (
    names.find((name) => presets[name].length === scopes.size && presets[name].every((one) => scopes.has(one))) ?? null
  );
}
