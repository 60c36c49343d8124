import { useState } from 'react';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Check } from '../../../parts/field.tsx';
import { Notice } from '../../../parts/states.tsx';
import type { MadeKey } from './key.ts';
import { words } from './strings.ts';

/** The only place where the secret of a key is shown. */
export function ShowSecret({
  made,
  note,
  onClose,
}: {
  readonly made: MadeKey;
  readonly note?: string;
  readonly onClose: () => void;
}) {
  const [stored, setStored] = useState(false);
  const done = () => {
    if (stored) onClose();
  };
  return (
    <Dialog
      title={words.secret.title(made.name)}
      onClose={onClose}
      guard={stored ? null : words.secret.guard}
      className="dialog wide"
    >
      <Notice tone="wait">
        <p>{words.secret.once}</p>
        {note !== undefined && <p>{note}</p>}
      </Notice>
      <div className="stack-s">
        <h3>{words.secret.key}</h3>
        <CodeBlock text={made.secret} what="the API key" />
      </div>
      <div className="stack-s">
        <h3>{words.secret.env}</h3>
        <CodeBlock
          text={`POSTRIDER_URL=${location.origin}\nPOSTRIDER_API_KEY=${made.secret}`}
          what="the lines for .env"
        />
      </div>
      <div className="stack-s">
        <h3>{words.secret.curl}</h3>
        <CodeBlock text={curlFor(made)} what="the curl command" />
      </div>
      <Check name="stored" label={words.secret.stored} checked={stored} onChange={setStored} />
      <div className="actions">
        <button type="button" className="button primary" aria-disabled={!stored || undefined} onClick={done}>
          {words.secret.done}
        </button>
      </div>
    </Dialog>
  );
}

function curlFor({ secret, scopes, domains }: MadeKey): string {
  const sends = scopes.includes('email:send') || scopes.includes('admin');
  const head = `curl ${location.origin}/v1/`;
  const key = `-H 'Authorization: Bearer ${secret}'`;
  if (!sends) return `${head}api-keys/current ${key}`;
  const body = {
    from: `hello@${domains?.[0] ?? 'sandbox.test'}`,
    to: 'you@example.com',
    subject: 'My first mail',
    text: 'It works.',
  };
  return `${head}email/send ${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
