import type { Plugin } from 'vite';

const EVERY_PAGE = /geist(?:-mono)?-latin-wght-normal-[\w-]+\.woff2$/;

/** Requests the two fonts of every page together with its script, so that no text changes its width once it is shown. */
export const preloadFonts: Plugin = {
  name: 'preload-fonts',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => EVERY_PAGE.test(file))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: true },
          injectTo: 'head' as const,
        })),
  },
};
