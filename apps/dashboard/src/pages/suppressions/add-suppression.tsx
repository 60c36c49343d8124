import { client } from '../../api/trpc.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function AddSuppression({ onClose }: { readonly onClose: () => void }) {
  const text = words.adding;
  return (
    <FormDialog
      title={text.title}
      submit={text.submit}
      run={async (form) => {
        const email = String(form.get('email') ?? '').trim();
        await client.suppressions.add.mutate({ email, reason: reasonIn(form) || null });
        return email;
      }}
      onDone={(email) => toast(text.done(email))}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.email} name="email" problem={problems.get('email')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
          </Field>
          <ReasonField about={text.reasonAbout} problem={problems.get('reason')} />
        </>
      )}
    </FormDialog>
  );
}
