import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { may, useMe } from '../../../api/me.ts';
import { problemOf } from '../../../api/problem.ts';
import { client, type Inputs } from '../../../api/trpc.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type NewHold = Inputs['holds']['create'];
type Scope = NewHold['scope'];

const scopes = Object.entries(words.scopes) as [Scope, string][];
const ofInstance: readonly Scope[] = ['queue', 'destination'];

export function CreateHold({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const me = useMe();
  const operator = may(me, 'operator');
  const [scope, setScope] = useState<Scope>(operator ? 'destination' : 'sender_domain');
  const create = useMutation({
    mutationFn: (given: NewHold) => client.holds.create.mutate(given),
    onSuccess(_, { value }) {
      toast(words.creating.done(value));
      onCreated();
      onClose();
    },
  });
  const problem = create.error && problemOf(create.error);
  const submit = (form: FormData) => {
    const rate = Number(form.get('rate'));
    if (create.isPending) return;
    create.mutate({
      scope,
      value: String(form.get('value') ?? '').trim(),
      reason: String(form.get('reason') ?? ''),
      ...(rate > 0 && { resume_rate_per_minute: rate }),
    });
  };
  return (
    <Dialog title={words.creating.title} onClose={onClose}>
      <Form label={words.creating.title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={create.error} />}
        <div className="field">
          <span className="label">{words.creating.scope}</span>
          <Choices
            label={words.creating.scope}
            options={scopes.filter(([name]) => operator || !ofInstance.includes(name))}
            value={scope}
            onChange={setScope}
          />
        </div>
        <Field
          label={words.creating.value}
          name="value"
          about={words.creating.values[scope]}
          problem={problem?.fields.get('value')}
        >
          {(control) => <input {...control} className="input mono" autoComplete="off" required autoFocus />}
        </Field>
        <Field
          label={words.creating.reason}
          name="reason"
          about={words.creating.reasonAbout}
          problem={problem?.fields.get('reason')}
        >
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={1000} required />}
        </Field>
        <Field
          label={words.creating.rate}
          name="rate"
          about={words.creating.rateAbout}
          problem={problem?.fields.get('resume_rate_per_minute')}
        >
          {(control) => <input {...control} className="input" type="number" min={1} max={60000} />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.creating.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={create.isPending}>
            {words.creating.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
