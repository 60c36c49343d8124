import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { signIn } from '../../api/session.ts';
import { Notice } from '../../parts/states.tsx';
import { CodeField } from '../../shell/code-field.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

/** Asks for the code of the second factor, after the password or link was right. */
export function CodePage() {
  const { next = '' } = useSearch({ from: '/login/code' });
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    setBusy(true);
    const result = await signIn('/login/code', { code: String(new FormData(form).get('code') ?? ''), next });
    if (result.ok) return location.assign(result.next);
    setBusy(false);
    setProblem(result.message);
    form.querySelector<HTMLInputElement>('input')?.select();
  };
  return (
    <SignedOut title={words.code.title}>
      {problem !== undefined && (
        <Notice tone="bad" alert>
          <p>{problem}</p>
        </Notice>
      )}
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <CodeField />
        <button type="submit" className="button primary" aria-busy={busy}>
          {words.submit}
        </button>
      </form>
      <a href="/login">{words.code.again}</a>
    </SignedOut>
  );
}
