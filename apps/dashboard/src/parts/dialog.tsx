import { X } from 'lucide-react';
import { createContext, type ReactNode, useEffect, useId, useRef } from 'react';
import { words } from './strings.ts';

/** Whether a component is in a dialog or drawer, which stands above the page. */
export const InDialog = createContext(false);

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly className?: string;
  /** If set, Esc, a click outside, and the close button show this sentence instead of closing. */
  readonly guard?: string | null;
}

const FIRST = '.body :is(input:not([readonly]), select, textarea, [tabindex="0"], .button.primary)';

/** Renders a native modal dialog, which traps and restores focus. */
export function Dialog({ title, children, onClose, className = 'dialog', guard = null }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const warning = useRef<HTMLParagraphElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The browser would focus the close button by default.
      dialog.querySelector<HTMLElement>(FIRST)?.focus();
    }
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const tryToClose = () => {
    if (guard === null) return onClose();
    if (!warning.current) return;
    warning.current.textContent = guard;
    warning.current.focus();
  };
  return (
    <dialog
      ref={element}
      className={className}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        tryToClose();
      }}
      // Chromium lets a second Esc close a dialog without a cancel event.
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        tryToClose();
      }}
      onClick={(event) => {
        if (event.target === element.current && outside(event, element.current)) tryToClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="button plain icon" aria-label={words.close} onClick={tryToClose}>
          <X size={16} />
        </button>
      </header>
      <div className="body">
        <p ref={warning} className="problem" role="alert" tabIndex={-1} />
        <InDialog value>{children}</InDialog>
      </div>
    </dialog>
  );
}

function outside({ clientX, clientY }: { clientX: number; clientY: number }, element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

/** Renders a dialog at the right edge for one row of the underlying list. */
export function Drawer(props: Omit<DialogProps, 'className'>) {
  return <Dialog {...props} className="dialog drawer" />;
}
