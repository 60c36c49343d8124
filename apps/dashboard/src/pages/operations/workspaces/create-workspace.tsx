import { client, type Outputs } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { words } from './strings.ts';

type Plan = Outputs['plans']['list']['data'][number];
type CreatedWorkspace = Outputs['workspaces']['create'];

export function CreateWorkspace({ plans, onClose }: { readonly plans: readonly Plan[]; readonly onClose: () => void }) {
  return (
    <FormDialog
      title={words.creating.title}
      submit={words.creating.submit}
      run={(form) => {
        const [name = '', plan = ''] = ['name', 'plan'].map((field) => String(form.get(field) ?? '').trim());
        return client.workspaces.create.mutate({ name, plan });
      }}
      next={(workspace) => <FirstKey made={workspace} onClose={onClose} />}
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
                {plans.map(({ name, monthly_emails }) => (
                  <option key={name} value={name}>
                    {words.creating.planOf(name, monthly_emails)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

/** Shows a workspace's first key, which is shown nowhere else. */
function FirstKey({ made: created, onClose }: { readonly made: CreatedWorkspace; readonly onClose: () => void }) {
  return (
    <SecretDialog title={words.secret.title(created.name)} words={words.secret} onClose={onClose}>
      <Notice tone="wait">
        <p>{words.secret.once}</p>
      </Notice>
      <CodeBlock text={created.api_key.secret} what={parts.texts.firstKey} />
    </SecretDialog>
  );
}
