import { type FormEvent, type ReactNode, useState } from 'react';
import { signIn } from '../../api/session.ts';
import { Field } from '../../parts/field.tsx';
import { Notice } from '../../parts/states.tsx';
import { words } from './strings.ts';

/** Sends a new password to the link that the browser is on, and follows to the signed-in page. */
export function PasswordForm({
  submit,
  email,
  asks_password = true,
  children,
}: {
  readonly submit: string;
  /** Tells password managers whose password it is. */
  readonly email?: string;
  readonly asks_password?: boolean;
  readonly children?: ReactNode;
}) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const password = String(new FormData(event.currentTarget).get('password') ?? '');
    const result = await signIn(location.pathname, { password });
    if (result.ok) return location.assign(result.next);
    setBusy(false);
    setProblem(result.message);
  };
  return (
    <>
      {problem !== undefined && (
        <Notice tone="bad" alert>
          <p>{problem}</p>
        </Notice>
      )}
      {children}
      <form className="stack" onSubmit={(event) => void send(event)}>
        {email !== undefined && (
          <Field label={words.invitation.email} name="email">
            {(control) => (
              <input {...control} className="input" type="email" autoComplete="username" value={email} readOnly />
            )}
          </Field>
        )}
        {asks_password && (
          <Field label={words.reset.password} name="password">
            {(control) => (
              <input
                {...control}
                className="input"
                type="password"
                autoComplete="new-password"
                minLength={10}
                maxLength={200}
                required
                autoFocus
              />
            )}
          </Field>
        )}
        <button type="submit" className="button primary" aria-busy={busy}>
          {submit}
        </button>
      </form>
    </>
  );
}
