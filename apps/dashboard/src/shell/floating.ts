import { createStore } from '../api/store.ts';

/** What floats above the page, if anything. */
export const floating = createStore<'palette' | 'shortcuts' | null>(null);

/** Whether the dock is open below the page. */
export const docked = createStore(false);
