import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { may, useMe } from '../../../api/me.ts';
import { client, type Inputs } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Choices, Field } from '../../../parts/field.tsx';
import { reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { HoldDuration, HoldReason, holdEnd } from './hold-fields.tsx';
import { targetOf, words } from './strings.ts';

type NewHold = Inputs['holds']['create'];
type Scope = NewHold['scope'];

const scopes = Object.entries(words.scopes) as [Scope, string][];
const ofInstance: readonly Scope[] = ['instance', 'queue', 'destination'];

export function CreateHold({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const me = useMe();
  const operator = may(me, 'operator');
  const [scope, setScope] = useState<Scope>(operator ? 'destination' : 'sender_domain');
  const create = useMutation({
    mutationFn: (given: NewHold) => client.holds.create.mutate(given),
    onSuccess(hold) {
      toast(words.creating.done(targetOf(hold)));
      onCreated();
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const rate = Number(form.get('rate'));
    create.mutate({
      scope,
      value: String(form.get('value') ?? '').trim(),
      reason: reasonIn(form),
      ...holdEnd(form),
      ...(rate > 0 && { resume_rate_per_minute: rate }),
    });
  };
  return (
    <FormDialog
      title={words.creating.title}
      words={words.creating}
      error={create.error}
      busy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
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
            problem={problems.get('value')}
          >
            {(control) => <input {...control} className="input mono" autoComplete="off" required autoFocus />}
          </Field>
          <HoldReason problems={problems} />
          <HoldDuration problems={problems} endless={scope === 'instance'} />
          <Field
            label={words.creating.rate}
            name="rate"
            about={words.creating.rateAbout}
            problem={problems.get('resume_rate_per_minute')}
          >
            {(control) => <input {...control} className="input" type="number" min={1} max={60000} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
