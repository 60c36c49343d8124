import { type FormEvent, useState } from 'react';
import { postForm } from '../../api/session.ts';
import { Field } from '../../parts/field.tsx';
import { Notice } from '../../parts/states.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

export function ForgotPage() {
  const [result, setResult] = useState<{ readonly ok: boolean; readonly message: string }>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const email = String(new FormData(event.currentTarget).get('email') ?? '');
    const { ok, message = '' } = await postForm('/login/forgot', { email });
    setBusy(false);
    setResult({ ok, message });
  };
  return (
    <SignedOut title={words.forgot.title}>
      {result !== undefined && (
        <Notice tone={result.ok ? 'good' : 'bad'} alert>
          <p>{result.message}</p>
        </Notice>
      )}
      {result?.ok !== true && (
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <Field label={words.email} name="email">
            {(control) => (
              <input {...control} className="input" type="email" autoComplete="username" required autoFocus />
            )}
          </Field>
          <button type="submit" className="button primary" aria-busy={busy}>
            {words.forgot.submit}
          </button>
        </form>
      )}
      <p>
        <a href="/login">{words.forgot.back}</a>
      </p>
    </SignedOut>
  );
}
