import { useMutation } from '@tanstack/react-query';
import { useMe } from '../../../api/me.ts';
import { problemOf } from '../../../api/problem.ts';
import { refetchShown, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

const text = words.name;

export function NameForm() {
  const { name } = useMe();
  const save = useMutation(
    trpc.people.setName.mutationOptions({
      onSuccess() {
        toast(text.saved);
        refetchShown();
      },
    }),
  );
  const problem = save.error && problemOf(save.error);
  return (
    <Panel title={text.title}>
      <Form
        label={text.title}
        onSubmit={(form) => save.mutate({ name: String(form.get('name') ?? '') })}
        fault={save.error}
      >
        {problem?.fields.size === 0 && <ErrorPanel error={save.error} />}
        <Field label={text.field} name="name" about={text.about} problem={problem?.fields.get('name')}>
          {(control) => (
            <input {...control} className="input" autoComplete="name" maxLength={100} defaultValue={name ?? ''} />
          )}
        </Field>
        <div className="actions">
          <Button type="submit" busy={save.isPending}>
            {text.save}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
