import { type ReactNode, useState } from 'react';
import { Dialog } from '../dialog.tsx';
import { Check } from '../field.tsx';

/** Shows a secret that cannot be shown again. Closes only after the user confirms that it is stored. */
export function SecretDialog({
  title,
  words,
  className,
  onClose,
  children,
}: {
  readonly title: string;
  readonly words: { readonly stored: string; readonly guard: string; readonly done: string };
  readonly className?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog title={title} onClose={onClose} guard={stored ? null : words.guard} {...(className && { className })}>
      {children}
      <Check name="stored" label={words.stored} checked={stored} onChange={setStored} />
      <div className="actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!stored || undefined}
          onClick={() => stored && onClose()}
        >
          {words.done}
        </button>
      </div>
    </Dialog>
  );
}
