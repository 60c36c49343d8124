import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { words } from './strings.ts';

const SHOWN_MS = 1600;

/** Copies text. Also works on plain http, which has no navigator.clipboard. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (done) return true;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // While a modal dialog is open, everything outside it is inert and cannot be selected.
  const parent = document.querySelector('dialog:modal') ?? document.body;
  const focused = document.activeElement;
  parent.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

function useCopy(text: string): { readonly copied: boolean; copy(): void } {
  const [copied, setCopied] = useState(false);
  return {
    copied,
    copy() {
      void copyText(text).then((done) => {
        setCopied(done);
        setTimeout(() => setCopied(false), SHOWN_MS);
      });
    },
  };
}

/** Renders a copy button. `what` completes "Copy". */
export function CopyButton({
  text,
  what: label,
  labelled = false,
  primary = false,
}: {
  readonly text: string;
  readonly what: string;
  readonly labelled?: boolean;
  readonly primary?: boolean;
}) {
  const { copied, copy } = useCopy(text);
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      className={`button s ${labelled ? '' : 'icon plain'} ${primary ? 'primary' : ''}`}
      aria-label={copied ? words.copy.copied(label) : words.copy.copy(label)}
      title={words.copy.copy(label)}
      onClick={copy}
    >
      <Icon size={14} />
      {labelled && (copied ? words.copy.done : words.copy.action)}
    </button>
  );
}

/** Shows an ID shortened in the middle. A click copies the full ID. */
export function Id({ id, whole: full = false }: { readonly id: string; readonly whole?: boolean }) {
  const { copied, copy } = useCopy(id);
  const Icon = copied ? Check : Copy;
  return (
    <button type="button" className="id" title={id} onClick={copy}>
      <span className="unseen">{copied ? words.copy.done : words.copy.action} </span>
      {full ? id : shortId(id)}
      <Icon size={12} />
    </button>
  );
}

export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-6)}`;
}

/** Shows text in a monospaced block, with a button that copies all of it. */
export function CodeBlock({ text, what: label }: { readonly text: string; readonly what: string }) {
  return (
    <div className="code">
      {/* A scrollable block must be reachable by keyboard. */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} what={label} />
    </div>
  );
}
