import { useState } from 'react';
import { signIn } from '../../api/session.ts';
import { Notice } from '../../parts/states.tsx';
import { SignedOut } from './signed-out.tsx';
import { words } from './strings.ts';

/** Signs in with a button, because an email scanner that follows the link must not use it up. */
export function LinkPage() {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const enter = async () => {
    if (busy) return;
    setBusy(true);
    const result = await signIn(location.pathname, {});
    if (result.ok) return location.assign(result.next);
    setProblem(result.message);
  };
  return (
    <SignedOut title={words.title}>
      {problem === undefined ? (
        <>
          <p className="muted">{words.link.about}</p>
          <button type="button" className="button primary" autoFocus aria-busy={busy} onClick={() => void enter()}>
            {words.submit}
          </button>
        </>
      ) : (
        <>
          <Notice tone="bad" alert>
            <p>{problem}</p>
          </Notice>
          <a href="/login">{words.link.again}</a>
        </>
      )}
    </SignedOut>
  );
}
