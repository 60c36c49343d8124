import { client, type Outputs } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/states.tsx';
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
  if (create.made) return <FirstKey made={create.made} onClose={onClose} />;
  const submit = (form: FormData) =>
    create.run(async () => {
      const [name, plan] = ['name', 'plan'].map((field) => String(form.get(field) ?? '').trim());
      const made = await client.workspaces.create.mutate({ name: name ?? '', plan: plan ?? '' });
      onCreated();
      return made;
    });
  return (
    <FormDialog
      title={words.creating.title}
      words={words.creating}
      error={create.error}
      busy={create.busy}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.creating.name} name="name" problem={problems.get('name')}>
            {(control) => (
              <input {...control} className="input" autoComplete="off" maxLength={100} required autoFocus />
            )}
          </Field>
          <Field label={words.creating.plan} name="plan" problem={problems.get('plan')}>
            {(control) => (
              <select {...control} className="input">
                {plans.map((plan) => (
                  <option key={plan}>{plan}</option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

/** The only place where the first key is shown. */
function FirstKey({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  return (
    <SecretDialog title={words.secret.title(made.name)} words={words.secret} onClose={onClose}>
      <Notice tone="wait">
        <p>{words.secret.once}</p>
      </Notice>
      <CodeBlock text={made.api_key.secret} what="the first key" />
    </SecretDialog>
  );
}
