import { useState } from 'react';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Check } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/states.tsx';
import { ExactTime } from '../../../parts/times.tsx';
import { words } from './strings.ts';

interface MadeEntry {
  readonly email: string;
  readonly password: string | null;
  readonly login_url: string | null;
  readonly login_url_expires_at: string | null;
}

/** The only place where the first credential of a user is shown. */
export function ShowEntry({ entry, onClose }: { readonly entry: MadeEntry; readonly onClose: () => void }) {
  const { email, password, login_url, login_url_expires_at } = entry;
  const secret = login_url ?? password;
  const [stored, setStored] = useState(secret === null);
  const text = words.secret;
  return (
    <Dialog title={text.title(email)} onClose={onClose} guard={stored ? null : text.guard}>
      {secret === null ? (
        <p>{text.known}</p>
      ) : (
        <>
          <Notice tone="wait">
            <p>{login_url === null ? text.password : text.once}</p>
            {login_url_expires_at !== null && (
              <p>
                {text.until} <ExactTime at={login_url_expires_at} />
              </p>
            )}
          </Notice>
          <CodeBlock text={secret} what="the first sign-in" />
          <Check name="stored" label={text.stored} checked={stored} onChange={setStored} />
        </>
      )}
      <div className="actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!stored || undefined}
          onClick={() => stored && onClose()}
        >
          {text.done}
        </button>
      </div>
    </Dialog>
  );
}
