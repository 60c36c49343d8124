import { type FormEvent, useState } from 'react';
import { useMe } from '../api/me.ts';
import { type Need, sign_in_prompt, signIn, signOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
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
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [asks_code, setAsksCode] = useState(false);
  const text = words.session[need];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = new FormData(form);
    setBusy(true);
    const result = await prove(need, me.email, String(typed.get('password')), String(typed.get('code') ?? ''));
    setBusy(false);
    if (result === 'done') return response(true);
    const [input] = form.querySelectorAll<HTMLInputElement>('input[name="code"], input[type="password"]');
    if (result === 'code_required') setAsksCode(true);
    else input?.select();
    setProblem(result === 'code_required' ? undefined : result.message);
  };
  return (
    <Dialog title={text.title} onClose={() => response(false)}>
      <p className="muted">{text.about}</p>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Field label={words.session.session.email} name="email">
          {(control) => (
            <input {...control} className="input" type="email" autoComplete="username" readOnly value={me.email} />
          )}
        </Field>
        <Field label={text.field} name="password" problem={asks_code ? undefined : problem}>
          {(control) => (
            <input {...control} className="input" type="password" autoComplete="current-password" required autoFocus />
          )}
        </Field>
        {asks_code && (
          <Field label={words.session.code} name="code" about={words.session.codeAbout} problem={problem}>
            {(control) => (
              <input
                {...control}
                className="input"
                autoComplete="one-time-code"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={100}
                required
                autoFocus
              />
            )}
          </Field>
        )}
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

/** Sends the password, and the code once the server has asked for it. */
async function prove(
  need: Need,
  email: string,
  password: string,
  code: string,
): Promise<'done' | 'code_required' | { readonly message: string }> {
  if (need === 'password') {
    const result = await signIn('/login/confirm', { password, ...(code !== '' && { code }) });
    if (result.ok) return 'done';
    return result.reason === 'code_required' ? 'code_required' : result;
  }
  const result = await signIn('/login', { email, password });
  if (!result.ok) return result;
  if (!result.next.startsWith('/login/code')) return 'done';
  if (code === '') return 'code_required';
  const entered = await signIn('/login/code', { code });
  return entered.ok ? 'done' : entered;
}
