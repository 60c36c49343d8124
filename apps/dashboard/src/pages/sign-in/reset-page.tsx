import { PasswordForm } from './password-form.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

export function ResetPage() {
  return (
    <SignedOut title={words.reset.title}>
      <PasswordForm submit={words.reset.submit}>
        <p className="muted">{words.reset.about}</p>
      </PasswordForm>
      <a href="/login/forgot">{words.forgot.link}</a>
    </SignedOut>
  );
}
