import { InvalidForm } from '../../../api/problem.ts';
import { client, type Outputs } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

export function EraseAddress({
  onClose,
  onStarted,
}: {
  readonly onClose: () => void;
  readonly onStarted: (erasure: Outputs['erasures']['start']) => void;
}) {
  const text = words.creating;
  return (
    <FormDialog
      title={text.title}
      about={
        <Notice tone="wait">
          <p>{text.about}</p>
        </Notice>
      }
      submit={text.submit}
      run={async (form) => {
        const [email = '', repeat = ''] = ['email', 'again'].map((name) => String(form.get(name) ?? '').trim());
        if (email.toLowerCase() !== repeat.toLowerCase()) throw new InvalidForm({ again: text.mismatch });
        return client.erasures.start.mutate({ email });
      }}
      onDone={(started) => {
        toast(text.done);
        onStarted(started);
      }}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.email} name="email" problem={problems.get('email')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
          </Field>
          <Field label={text.again} name="again" problem={problems.get('again')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
