import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel, QueryView } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Policy = Outputs['people']['signInPolicy'];
type SecondFactor = Policy['second_factor'];

const text = words.policy;
const options = ['optional', 'required_for_admins', 'required'] as const satisfies readonly SecondFactor[];

/** Who must have a second factor, in the workspace or on the whole instance. */
export function SignInPolicy({ access }: { readonly access: Policy['access'] }) {
  const policy = useQuery(trpc.people.signInPolicy.queryOptions({ access }));
  return (
    <Panel title={text.title}>
      <QueryView query={policy}>
        {(data) => <PolicyForm key={`${data.second_factor} ${data.grace_days}`} policy={data} />}
      </QueryView>
    </Panel>
  );
}

function PolicyForm({ policy: { access, ...policy } }: { readonly policy: Policy }) {
  const [second_factor, setSecondFactor] = useState<SecondFactor>(policy.second_factor);
  const save = useMutation(trpc.people.setSignInPolicy.mutationOptions({ onSuccess: () => toast(text.saved) }));
  const problem = save.error && problemOf(save.error);
  const submit = (form: FormData) => {
    const grace_days = Number(form.get('grace_days') ?? policy.grace_days);
    if (!save.isPending) save.mutate({ access, second_factor, grace_days });
  };
  return (
    <Form label={text.title} onSubmit={submit} fault={problem}>
      {problem && problem.fields.size === 0 && <ErrorPanel error={save.error} />}
      <div className="field">
        <span className="label">{text.factor}</span>
        <Choices<SecondFactor>
          label={text.factor}
          options={options.map((option) => [option, text.options[option]])}
          value={second_factor}
          onChange={setSecondFactor}
        />
        <p className="about">{access === 'instance' ? text.aboutInstance : text.aboutWorkspace}</p>
      </div>
      {second_factor !== 'optional' && (
        <Field label={text.grace} name="grace_days" about={text.graceAbout} problem={problem?.fields.get('grace_days')}>
          {(control) => (
            <input
              {...control}
              className="input"
              type="number"
              min={0}
              max={90}
              defaultValue={policy.grace_days}
              required
            />
          )}
        </Field>
      )}
      <div>
        <Button type="submit" kind="primary" needs={access === 'instance' ? 'operator' : 'admin'} busy={save.isPending}>
          {text.save}
        </Button>
      </div>
    </Form>
  );
}
