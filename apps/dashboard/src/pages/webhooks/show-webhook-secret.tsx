import { CodeBlock } from '../../parts/copy.tsx';
import { SecretDialog } from '../../parts/dialogs/secret-dialog.tsx';
import { Notice } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { words } from './strings.ts';

/** Shows an endpoint's secret, which is shown nowhere else. */
export function ShowWebhookSecret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <SecretDialog title={words.secret.title} words={words.secret} onClose={onClose}>
      <Notice tone="wait">
        <p>{words.secret.once}</p>
      </Notice>
      <CodeBlock text={secret} what={parts.texts.signingSecret} />
      <div className="stack-s">
        <h3>{words.secret.env}</h3>
        <CodeBlock text={`WEBHOOK_SECRET=${secret}`} what={parts.texts.env} />
      </div>
    </SecretDialog>
  );
}
