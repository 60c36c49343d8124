import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
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
  const [wrong, setWrong] = useState<string>();
  const erase = useMutation({
    mutationFn: (email: string) => client.erasures.start.mutate({ email }),
    onSuccess(started) {
      toast(words.creating.done);
      onStarted(started);
    },
  });
  const submit = (form: FormData) => {
    const [email = '', again = ''] = ['email', 'again'].map((name) => String(form.get(name) ?? '').trim());
    const same = email.toLowerCase() === again.toLowerCase();
    setWrong(same ? undefined : words.creating.mismatch);
    if (same) erase.mutate(email);
  };
  return (
    <FormDialog
      title={words.creating.title}
      intro={
        <Notice tone="wait">
          <p>{words.creating.about}</p>
        </Notice>
      }
      words={words.creating}
      error={erase.error}
      busy={erase.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.creating.email} name="email" problem={problems.get('email')}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
          </Field>
          <Field label={words.creating.again} name="again" problem={wrong}>
            {(control) => <input {...control} className="input" type="email" autoComplete="off" required />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
