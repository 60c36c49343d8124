import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/trpc.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/field.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function RemoveSuppression({
  email,
  onClose,
  onRemoved,
}: {
  readonly email: string;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}) {
  const [wrong, setWrong] = useState<string>();
  const remove = useMutation({
    mutationFn: () => client.suppressions.remove.mutate({ email }),
    onSuccess() {
      toast(words.removing.done(email));
      onRemoved();
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const same = String(form.get('email')).trim().toLowerCase() === email.toLowerCase();
    setWrong(same ? undefined : words.removing.mismatch);
    if (same && !remove.isPending) remove.mutate();
  };
  return (
    <Dialog title={words.removing.title(email)} onClose={onClose}>
      <p>{words.removing.about}</p>
      <Form label={words.removing.title(email)} onSubmit={submit} fault={wrong}>
        {remove.error !== null && <ErrorPanel error={remove.error} />}
        <Field label={words.removing.type(email)} name="email" problem={wrong}>
          {(control) => <input {...control} className="input" autoComplete="off" required autoFocus />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" className="button danger primary" aria-busy={remove.isPending}>
            {words.removing.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
