import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { client, type Inputs, type Outputs } from '../../../api/trpc.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Choices, Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { useSecret } from '../../../parts/use-secret.ts';
import { ShowEntry } from './show-entry.tsx';
import { words } from './strings.ts';

type Role = Inputs['members']['invite']['role'];

export function InviteMember({ onClose, onInvited }: { readonly onClose: () => void; readonly onInvited: () => void }) {
  const [role, setRole] = useState<Role>('member');
  const invite = useSecret<Outputs['members']['invite']>();
  const problem = invite.error ? problemOf(invite.error) : null;
  if (invite.made) return <ShowEntry entry={invite.made} onClose={onClose} />;
  const submit = (form: FormData) =>
    invite.run(async () => {
      const made = await client.members.invite.mutate({ email: String(form.get('email') ?? '').trim(), role });
      onInvited();
      return made;
    });
  return (
    <Dialog title={words.inviting.title} onClose={onClose}>
      <Form label={words.inviting.title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={invite.error} />}
        <Field label={words.inviting.email} name="email" problem={problem?.fields.get('email')}>
          {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
        </Field>
        <div className="field">
          <span className="label">{words.inviting.role}</span>
          <Choices<Role>
            label={words.inviting.role}
            options={(['viewer', 'member', 'admin'] as const).map(
              (name) => [name, words.roles[name][0] ?? name] as const,
            )}
            value={role}
            onChange={setRole}
          />
          <p className="about">{words.roles[role][1]}</p>
        </div>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.inviting.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={invite.busy}>
            {words.inviting.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
