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
  const text = words.session[need];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const password = String(new FormData(form).get('password') ?? '');
    setBusy(true);
    const result = await signIn(need === 'password' ? '/login/confirm' : '/login', { email: me.email, password });
    setBusy(false);
    if (result.ok) return response(true);
    setProblem(result.message);
    form.querySelector<HTMLInputElement>('input[type="password"]')?.select();
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
        <Field label={text.field} name="password" problem={problem}>
          {(control) => (
            <input {...control} className="input" type="password" autoComplete="current-password" required autoFocus />
          )}
        </Field>
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
