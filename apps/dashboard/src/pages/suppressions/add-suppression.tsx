import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/trpc.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
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
  const submit = (form: FormData) => {
    add.mutate({ email: String(form.get('email') ?? '').trim(), reason: reasonIn(form) || null });
  };
  return (
    <FormDialog
      title={words.adding.title}
      words={{ cancel: words.cancel, submit: words.adding.submit }}
      error={add.error}
      busy={add.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.adding.email} name="email" problem={problems.get('email')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
          </Field>
          <ReasonField about={words.adding.reasonAbout} problem={problems.get('reason')} />
        </>
      )}
    </FormDialog>
  );
}
