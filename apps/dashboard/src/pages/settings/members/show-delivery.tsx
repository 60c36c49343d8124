import type { Outputs } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Notice } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { words } from './strings.ts';

type Delivery = Outputs['invitations']['resend'];

/** Says whether an invitation was emailed, and otherwise shows its link, which is shown nowhere else. */
export function DeliveryDialog({
  delivery,
  onClose,
}: {
  /** Null if the person joined immediately. */
  readonly delivery: Delivery | null;
  readonly onClose: () => void;
}) {
  const text = words.sent;
  if (delivery === null || delivery.url === null) {
    return (
      <Dialog title={delivery === null ? text.joined : text.title} onClose={onClose}>
        <p>{delivery === null ? text.known : text.emailed(delivery.email)}</p>
        <div className="actions">
          <Button kind="primary" onClick={onClose}>
            {text.done}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <SecretDialog title={text.title} words={text} onClose={onClose}>
      <Notice tone="wait">
        <p>{delivery.sent === 'captured' ? text.captured : text.unsent}</p>
        <p>{text.once}</p>
      </Notice>
      <CodeBlock text={delivery.url} what={parts.texts.firstSignIn} />
    </SecretDialog>
  );
}
