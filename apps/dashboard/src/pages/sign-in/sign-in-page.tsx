import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { signIn } from '../../api/session.ts';
import { Field } from '../../parts/field.tsx';
import { Notice } from '../../parts/states.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

export function SignInPage() {
  const { next = '' } = useSearch({ from: '/login' });
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    const typed = new FormData(form);
    setBusy(true);
    const result = await signIn('/login', {
      email: String(typed.get('email') ?? ''),
      password: String(typed.get('password') ?? ''),
      next,
    });
    // The target is safe to follow because the server has checked that it is a path on this origin.
    if (result.ok) return location.assign(result.next);
    setBusy(false);
    setProblem(result.message);
    form.querySelector<HTMLInputElement>('input[type="password"]')?.select();
  };
  return (
    <SignedOut title={words.title}>
      {problem !== undefined && (
        <Notice tone="bad" alert>
          <p>{problem}</p>
        </Notice>
      )}
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Field label={words.email} name="email">
          {(control) => (
            <input {...control} className="input" type="email" autoComplete="username" required autoFocus />
          )}
        </Field>
        <Field label={words.password} name="password">
          {(control) => (
            <input {...control} className="input" type="password" autoComplete="current-password" required />
          )}
        </Field>
        <button type="submit" className="button primary" aria-busy={busy}>
          {words.submit}
        </button>
      </form>
      <p>
        <a href="/login/forgot">{words.forgot.link}</a>
      </p>
      <p className="small muted">{words.help}</p>
      <details className="small muted">
        <summary>{words.operatorHelp}</summary>
        <p>{words.operatorAbout}</p>
      </details>
    </SignedOut>
  );
}
