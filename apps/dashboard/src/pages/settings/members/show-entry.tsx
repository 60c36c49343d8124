import { Button } from '../../../parts/button.tsx';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Notice } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { ExactTime } from '../../../parts/times.tsx';
import { words } from './strings.ts';

interface NewEntry {
  readonly email: string;
  readonly password: string | null;
  readonly login_url: string | null;
  readonly login_url_expires_at: string | null;
}

/** Shows a user's first credential, which is shown nowhere else. */
export function EntryDialog({ entry, onClose }: { readonly entry: NewEntry; readonly onClose: () => void }) {
  const { email, password, login_url, login_url_expires_at } = entry;
  const secret = login_url ?? password;
  const text = words.secret;
  if (secret === null) {
    return (
      <Dialog title={text.title(email)} onClose={onClose}>
        <p>{text.known}</p>
        <div className="actions">
          <Button kind="primary" onClick={onClose}>
            {text.done}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <SecretDialog title={text.title(email)} words={text} onClose={onClose}>
      <Notice tone="wait">
        <p>{login_url === null ? text.password : text.once}</p>
        {login_url_expires_at !== null && (
          <p>
            {text.until} <ExactTime at={login_url_expires_at} />
          </p>
        )}
      </Notice>
      <CodeBlock text={secret} what={parts.texts.firstSignIn} />
    </SecretDialog>
  );
}
