import { useState } from 'react';
import { may, type Scope, useMe } from '../../../api/me.ts';
import { InvalidForm } from '../../../api/problem.ts';
import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Check, Choices, Field } from '../../../parts/field.tsx';
import { ShowSecret } from './show-secret.tsx';
import { presets, scopeMeanings, words } from './strings.ts';

const modes = ['live', 'sandbox'] as const;

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const me = useMe();
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(presets.send));
  const [mode, setMode] = useState<(typeof modes)[number]>('live');
  const create = async (form: FormData) => {
    const name = String(form.get('name') ?? '').trim();
    const domains = String(form.get('domains') ?? '')
      .split(/[\s,]+/)
      .filter(Boolean);
    const missing = {
      ...(name === '' && { name: words.dialog.noName }),
      ...(scopes.size === 0 && { scopes: words.dialog.noScope }),
    };
    if (Object.keys(missing).length > 0) throw new InvalidForm(missing);
    const fields = { name, scopes: [...scopes], mode, domains: domains.length > 0 ? domains : null };
    return client.apiKeys.create.mutate(fields);
  };
  const toggle = (scope: Scope, checked: boolean) => {
    const next = new Set(scopes);
    if (checked) next.add(scope);
    else next.delete(scope);
    setScopes(next);
  };
  const grantable = (Object.keys(scopeMeanings) as Scope[]).filter((scope) => may(me, scope));
  return (
    <FormDialog
      title={words.dialog.title}
      submit={words.dialog.submit}
      call={calls.createKey([...scopes], mode)}
      run={create}
      next={(key) => <ShowSecret made={key} onClose={onClose} />}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.dialog.name} name="name" about={words.dialog.nameAbout} problem={problems.get('name')}>
            {(control) => (
              <input {...control} className="input" autoComplete="off" maxLength={100} required autoFocus />
            )}
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
                onChange={(checked) => toggle(scope, checked)}
              />
            ))}
            {problems.has('scopes') && <p className="problem">{problems.get('scopes')}</p>}
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
            problem={[...problems].find(([path]) => path.startsWith('domains'))?.[1]}
          >
            {(control) => <input {...control} className="input" autoComplete="off" placeholder="example.com" />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

function presetOf(scopes: ReadonlySet<Scope>): keyof typeof presets | null {
  const names = Object.keys(presets) as (keyof typeof presets)[];
  return (
    names.find((name) => presets[name].length === scopes.size && presets[name].every((one) => scopes.has(one))) ?? null
  );
}
