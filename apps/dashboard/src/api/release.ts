import { createStore } from './store.ts';

/** Whether the server has another dashboard than this tab; its files are gone then, so only a reload helps. */
export const outdated = createStore(false);

export function noteRelease(release: string | null): void {
  if (release !== null && release !== import.meta.env.RELEASE) outdated.set(true);
}

/** A part of the page that is loaded when first used may be one of the previous release. */
export function watchReleases(): void {
  addEventListener('vite:preloadError', (event) => {
    event.preventDefault();
    outdated.set(true);
  });
}
