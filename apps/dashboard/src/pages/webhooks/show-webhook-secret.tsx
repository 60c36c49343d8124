import { useState } from 'react';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Check } from '../../parts/field.tsx';
import { Notice } from '../../parts/states.tsx';
import { words } from './strings.ts';

/** The only place where the secret of an endpoint is shown. */
export function ShowWebhookSecret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={words.secret.title} onClose={onClose} guard={stored ? null : words.secret.guard}>
      <Notice tone="wait">
        <p>{words.secret.once}</p>
      </Notice>
      <CodeBlock text={secret} what="the signing secret" />
      <div className="stack-s">
        <h3>{words.secret.env}</h3>
        <CodeBlock text={`POSTRIDER_WEBHOOK_SECRET=${secret}`} what="the line for .env" />
      </div>
      <Check name="stored" label={words.secret.stored} checked={stored} onChange={setStored} />
      <div className="actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!stored || undefined}
          onClick={() => stored && onClose()}
        >
          {words.secret.done}
        </button>
      </div>
    </Dialog>
  );
}
