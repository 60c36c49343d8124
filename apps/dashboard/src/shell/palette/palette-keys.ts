import { createStore } from '../../api/store.ts';
import { floating } from '../floating.ts';
import { shortcutsOn } from '../shortcuts.ts';

/** What is typed into the palette. Kept outside of it, because keys may arrive before it is loaded. */
export const paletteText = createStore('');

/** Whether Enter was pressed before the results of the text were there. */
export const enterPressed = createStore(false);

export function openPalette(text = ''): void {
  paletteText.set(text);
  enterPressed.set(false);
  floating.set('palette');
}

/**
 * Opens the palette by its keys and, until its field has the focus, adds the typed keys to its text. Without this, the
 * first keys would be lost, or act as shortcuts of the page.
 */
export function listenForPalette(): void {
  addEventListener('keydown', listen, true);
  addEventListener('paste', paste, true);
}

function listen(event: KeyboardEvent): void {
  if (location.pathname.startsWith('/login')) return;
  if (isOpening()) {
    if (bufferKey(event)) consume(event);
    return;
  }
  const is_toggle = (event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === 'k';
  if (is_toggle && document.querySelector('.palette:modal')) {
    consume(event);
    floating.set(null);
    return;
  }
  if (document.querySelector('dialog:modal')) return;
  if (is_toggle) {
    consume(event);
    openPalette();
  }
  if (event.key === '/' && shortcutsOn.get() && !isTyping(event.target)) {
    consume(event);
    const search = document.querySelector<HTMLElement>('main input[type="search"]');
    if (search) search.focus();
    else openPalette();
  }
}

/** Returns whether the key belongs to the palette that is about to open. */
function bufferKey(event: KeyboardEvent): boolean {
  const { key, metaKey, ctrlKey, altKey } = event;
  if (event.isComposing || metaKey || ctrlKey !== altKey) return false;
  if (key === 'Escape') floating.set(null);
  else if (key === 'Enter') enterPressed.set(true);
  else if (key === 'Backspace') paletteText.set(paletteText.get().slice(0, -1));
  else if (key.length === 1) paletteText.set(paletteText.get() + key);
  else return false;
  return true;
}

function paste(event: ClipboardEvent): void {
  if (!isOpening()) return;
  consume(event);
  paletteText.set(paletteText.get() + (event.clipboardData?.getData('text').trim() ?? ''));
}

/** Returns whether the palette is open without having the focus yet. */
function isOpening(): boolean {
  return floating.get() === 'palette' && !document.querySelector('.palette:modal');
}

function consume(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
