import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { createStore, useStore } from '../api/store.ts';
import { words } from './strings.ts';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const toasts = createStore<readonly Toast[]>([]);
let last = 0;
const SHOWN_MS = 6000;

/** Shows a message without taking focus. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get().slice(-3), { id, tone, text }]);
  // Errors stay until closed.
  if (tone === 'good') setTimeout(() => drop(id), SHOWN_MS);
}

function drop(id: number): void {
  toasts.set(toasts.get().filter((one) => one.id !== id));
}

export function Toasts() {
  const items = useStore(toasts);
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = region.current;
    if (!element) return;
    // The top layer stacks in opening order, so reopening puts toasts above a newer dialog.
    if (element.matches(':popover-open')) element.hidePopover();
    if (items.length > 0) element.showPopover();
  }, [items]);
  return (
    <div ref={region} className="toasts" popover="manual" role="status">
      {items.map(({ id, tone, text }) => (
        <div key={id} className="toast">
          {tone === 'good' ? (
            <CircleCheck size={16} color="var(--good)" />
          ) : (
            <CircleAlert size={16} color="var(--bad)" />
          )}
          <span>{text}</span>
          <button type="button" className="button plain icon" aria-label={words.close} onClick={() => drop(id)}>
            <X size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
