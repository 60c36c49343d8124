import { createStore } from '../api/store.ts';

const STORAGE_KEY = 'postrider.shortcuts';

/** Whether single-key shortcuts are enabled. They interfere with speech input. */
export const shortcutsOn = createStore(readKept());

function readKept(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== '0';
  } catch {
    return true;
  }
}

export function switchShortcuts(enabled: boolean): void {
  shortcutsOn.set(enabled);
  try {
    localStorage.setItem(STORAGE_KEY, enabled ? '1' : '0');
  } catch {
    // If storage is blocked, the setting lasts until this tab is closed.
  }
}

export interface Shortcut {
  /** One key, or two in sequence, such as "g e". */
  readonly keys: string;
  readonly about: string;
  readonly run: () => void;
}

const registered = new Map<string, Shortcut>();

/** Adds shortcuts. Call the returned function to remove them. */
export function addShortcuts(shortcuts: readonly Shortcut[]): () => void {
  for (const one of shortcuts) registered.set(one.keys, one);
  return () => {
    for (const one of shortcuts) if (registered.get(one.keys) === one) registered.delete(one.keys);
  };
}

export function listShortcuts(): readonly Shortcut[] {
  return [...registered.values()];
}

const PAUSE_MS = 900;

/** Listens for shortcuts on the whole page, except in inputs and while a dialog is open. */
export function listenForShortcuts(): () => void {
  let first = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || !shortcutsOn.get()) return;
    const { target } = event;
    if (target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select')) return;
    if (document.querySelector('dialog:modal, [popover="auto"]:popover-open')) return;
    const shortcut = registered.get(first === '' ? event.key : `${first} ${event.key}`);
    clearTimeout(timer);
    first = '';
    if (shortcut) {
      event.preventDefault();
      shortcut.run();
      return;
    }
    first = event.key;
    timer = setTimeout(() => {
      first = '';
    }, PAUSE_MS);
  };
  addEventListener('keydown', listen);
  return () => removeEventListener('keydown', listen);
}
