import { createStore } from '../api/store.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const written = document.documentElement.dataset.theme;

/** The server writes the theme from the cookie into the page so that the first paint is correct. */
export const theme = createStore<Theme>(themes.find((name) => name === written) ?? 'system');

export function setTheme(name: Theme): void {
  theme.set(name);
  document.documentElement.dataset.theme = name;
  // biome-ignore lint/suspicious/noDocumentCookie: Safari and Firefox learned cookieStore only lately
  document.cookie = `theme=${name}; path=/; max-age=31536000; samesite=lax`;
}
