import { useState } from 'react';
import { client, type Inputs } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Choices, Field } from '../../../parts/field.tsx';
import { DeliveryDialog } from './show-delivery.tsx';
import { words } from './strings.ts';

type Role = Exclude<Inputs['invitations']['create']['role'], 'operator'>;

export function InviteMember({ onClose }: { readonly onClose: () => void }) {
  const [role, setRole] = useState<Role>('member');
  return (
    <FormDialog
      title={words.inviting.title}
      submit={words.inviting.submit}
      run={(form) => client.invitations.create.mutate({ email: String(form.get('email') ?? '').trim(), role })}
      next={({ delivery }) => <DeliveryDialog delivery={delivery} onClose={onClose} />}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.inviting.email} name="email" problem={problems.get('email')}>
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
        </>
      )}
    </FormDialog>
  );
}
