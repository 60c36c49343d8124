import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Workspace = Outputs['workspaces']['get'];
type Policy = Workspace['unknown_policy'];

export function WorkspaceForm({ workspace }: { readonly workspace: Workspace }) {
  const [policy, setPolicy] = useState<Policy>(workspace.unknown_policy);
  const save = useMutation(trpc.workspaces.update.mutationOptions({ onSuccess: () => toast(words.saved) }));
  const problem = save.error && problemOf(save.error);
  const submit = (form: FormData) => {
    const name = String(form.get('name') ?? '').trim();
    if (!save.isPending) save.mutate({ name, unknown_policy: policy, reason: reasonIn(form) || null });
  };
  return (
    <Panel title={words.general}>
      <Form label={words.general} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={save.error} />}
        <Field label={words.name} name="name" problem={problem?.fields.get('name')}>
          {(control) => (
            <input
              {...control}
              className="input"
              autoComplete="off"
              maxLength={100}
              defaultValue={workspace.name}
              required
            />
          )}
        </Field>
        <div className="field">
          <span className="label">{words.policy}</span>
          <Choices<Policy>
            label={words.policy}
            options={[
              ['resend', words.policies.resend[0]],
              ['stop', words.policies.stop[0]],
            ]}
            value={policy}
            onChange={setPolicy}
          />
          <p className="about">{words.policies[policy][1]}</p>
        </div>
        <ReasonField />
        <div>
          <Button type="submit" kind="primary" needs="admin" busy={save.isPending}>
            {words.save}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
