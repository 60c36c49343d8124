import { useQuery } from '@tanstack/react-query';
import { type Invitation, readInvitation } from '../../api/session.ts';
import { Notice } from '../../parts/states.tsx';
import { PasswordForm } from './password-form.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

export function InvitationPage() {
  const { data } = useQuery({
    queryKey: ['invitation', location.pathname],
    queryFn: () => readInvitation(location.pathname),
    // Once accepted, the invitation can no longer be read.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <SignedOut title={words.invitation.title}>
      {data?.ok === true && (
        <PasswordForm
          submit={words.invitation.submit}
          email={data.invitation.email}
          asks_password={data.invitation.needs_password}
        >
          <p>{sentence(data.invitation)}</p>
          {!data.invitation.needs_password && <p className="muted">{words.invitation.known}</p>}
        </PasswordForm>
      )}
      {data?.ok === false && (
        <>
          <Notice tone="bad" alert>
            <p>{data.message}</p>
          </Notice>
          <a href="/login">{words.link.again}</a>
        </>
      )}
    </SignedOut>
  );
}

function sentence({ invited_by, workspace_name, role }: Invitation): string {
  return workspace_name === null
    ? words.invitation.instance(invited_by)
    : words.invitation.workspace(invited_by, workspace_name, role);
}
