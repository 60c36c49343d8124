import { createStore } from '../api/store.ts';

/** The open overlay, if any. */
export const floating = createStore<'palette' | 'shortcuts' | null>(null);

/** Whether the dock below the page is open. */
export const docked = createStore(false);
