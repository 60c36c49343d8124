import { useMutation } from '@tanstack/react-query';
import { problemOf } from '../../api/problem.ts';
import { client } from '../../api/trpc.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/field.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function AddSuppression({ onClose, onAdded }: { readonly onClose: () => void; readonly onAdded: () => void }) {
  const add = useMutation({
    mutationFn: (given: { readonly email: string; readonly reason: string | null }) =>
      client.suppressions.add.mutate(given),
    onSuccess(_, { email }) {
      toast(words.adding.done(email));
      onAdded();
      onClose();
    },
  });
  const problem = add.error && problemOf(add.error);
  const submit = (form: FormData) => {
    const reason = String(form.get('reason') ?? '').trim();
    if (!add.isPending) add.mutate({ email: String(form.get('email') ?? '').trim(), reason: reason || null });
  };
  return (
    <Dialog title={words.adding.title} onClose={onClose}>
      <Form label={words.adding.title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={add.error} />}
        <Field label={words.adding.email} name="email" problem={problem?.fields.get('email')}>
          {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
        </Field>
        <Field
          label={words.adding.reason}
          name="reason"
          about={words.adding.reasonAbout}
          problem={problem?.fields.get('reason')}
        >
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={500} />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={add.isPending}>
            {words.adding.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
