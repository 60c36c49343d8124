import { createStore } from '../api/store.ts';

/** What floats above the page, if anything. */
export const floating = createStore<'palette' | 'shortcuts' | null>(null);
