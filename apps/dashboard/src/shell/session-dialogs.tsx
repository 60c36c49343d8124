import { type FormEvent, useState } from 'react';
import { useMe } from '../api/me.ts';
import { type Need, sign_in_prompt, signIn, signOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { CodeField } from './code-field.tsx';
import { words } from './strings.ts';

/** Asks for the password or a new sign-in on top of the page, which keeps its state. */
export function SessionDialogs() {
  const open = useStore(sign_in_prompt);
  return open && <SessionDialog key={open.need} need={open.need} answer={open.answer} />;
}

function SessionDialog({
  need,
  answer: response,
}: {
  readonly need: Need;
  readonly answer: (is_confirmed: boolean) => void;
}) {
  const me = useMe();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [asks_code, setAsksCode] = useState(false);
  const text = words.session[need];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    const typed = new FormData(form);
    const code = asks_code ? String(typed.get('code') ?? '') : null;
    setBusy(true);
    const outcome = await prove(need, me.email, String(typed.get('password') ?? ''), code);
    setBusy(false);
    if (outcome === 'done') return response(true);
    if (outcome === 'code_required') {
      setProblem(undefined);
      return setAsksCode(true);
    }
    // A sign-in that has expired begins with the password again.
    if (need === 'session' && outcome.field === 'password') setAsksCode(false);
    setProblem(outcome);
    form.querySelector<HTMLInputElement>(`input[name="${outcome.field}"]`)?.select();
  };
  const messageAt = (field: Problem['field']) => (problem?.field === field ? problem.message : undefined);
  return (
    <Dialog title={text.title} onClose={() => response(false)}>
      <p className="muted">{text.about}</p>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Field label={words.session.session.email} name="email">
          {(control) => (
            <input {...control} className="input" type="email" autoComplete="username" readOnly value={me.email} />
          )}
        </Field>
        <Field label={text.field} name="password" problem={messageAt('password')}>
          {(control) => (
            <input {...control} className="input" type="password" autoComplete="current-password" required autoFocus />
          )}
        </Field>
        {asks_code && <CodeField problem={messageAt('code')} />}
        <p className="small muted">{text.noPassword}</p>
        <div className="actions">
          {need === 'session' ? (
            <button type="button" className="button" onClick={() => response(true)}>
              {words.session.session.other}
            </button>
          ) : (
            <button type="button" className="button" onClick={() => void signOut()}>
              {words.account.signOut}
            </button>
          )}
          <button type="submit" className="button primary" aria-busy={busy}>
            {text.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface Problem {
  readonly field: 'password' | 'code';
  readonly message: string;
}

/**
 * Sends the password, and the code once the server has asked for it. For an expired session, the code is sent alone: the
 * password has already been accepted.
 */
async function prove(
  need: Need,
  email: string,
  password: string,
  code: string | null,
): Promise<'done' | 'code_required' | Problem> {
  if (need === 'password') {
    const result = await signIn('/login/confirm', { password, ...(code !== null && { code }) });
    if (result.ok) return 'done';
    if (result.reason === 'code_required') return 'code_required';
    return { field: result.reason === 'invalid_login' || code === null ? 'password' : 'code', message: result.message };
  }
  const result = code === null ? await signIn('/login', { email, password }) : await signIn('/login/code', { code });
  if (result.ok) return result.next.startsWith('/login/code') ? 'code_required' : 'done';
  return { field: result.reason === 'invalid_login' || code === null ? 'password' : 'code', message: result.message };
}
