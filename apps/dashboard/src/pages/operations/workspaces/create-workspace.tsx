import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { client, type Outputs } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Check, Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel, Notice } from '../../../parts/states.tsx';
import { useSecret } from '../../../parts/use-secret.ts';
import { words } from './strings.ts';

type Made = Outputs['workspaces']['create'];

export function CreateWorkspace({
  plans,
  onClose,
  onCreated,
}: {
  readonly plans: readonly string[];
  readonly onClose: () => void;
  readonly onCreated: () => void;
}) {
  const create = useSecret<Made>();
  const problem = create.error ? problemOf(create.error) : null;
  if (create.made) return <FirstKey made={create.made} onClose={onClose} />;
  const submit = (form: FormData) =>
    create.run(async () => {
      const [name, plan] = ['name', 'plan'].map((field) => String(form.get(field) ?? '').trim());
      const made = await client.workspaces.create.mutate({ name: name ?? '', plan: plan ?? '' });
      onCreated();
      return made;
    });
  return (
    <Dialog title={words.creating.title} onClose={onClose}>
      <Form label={words.creating.title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={create.error} />}
        <Field label={words.creating.name} name="name" problem={problem?.fields.get('name')}>
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={100} required autoFocus />}
        </Field>
        <Field label={words.creating.plan} name="plan" problem={problem?.fields.get('plan')}>
          {(control) => (
            <select {...control} className="input">
              {plans.map((plan) => (
                <option key={plan}>{plan}</option>
              ))}
            </select>
          )}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.creating.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={create.busy}>
            {words.creating.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

/** The only place where the first key is shown. */
function FirstKey({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={words.secret.title(made.name)} onClose={onClose} guard={stored ? null : words.secret.guard}>
      <Notice tone="wait">
        <p>{words.secret.once}</p>
      </Notice>
      <CodeBlock text={made.api_key.secret} what="the first key" />
      <Check name="stored" label={words.secret.stored} checked={stored} onChange={setStored} />
      <div className="actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!stored || undefined}
          onClick={() => stored && onClose()}
        >
          {words.secret.done}
        </button>
      </div>
    </Dialog>
  );
}
