import { createStore } from './store.ts';

/** The hash of this build's sources, which Vite inserts. */
declare const RELEASE: string;

/**
 * Whether the server has a newer dashboard than this tab. This tab's files no longer exist then, so only a reload
 * helps.
 */
export const outdated = createStore(false);

export function noteRelease(release: string | null): void {
  if (release !== null && release !== RELEASE) outdated.set(true);
}

/**
 * Detects a new release from a failed import: a chunk that is loaded on first use may belong to the previous release.
 */
export function watchReleases(): void {
  addEventListener('vite:preloadError', (event) => {
    event.preventDefault();
    outdated.set(true);
  });
}
