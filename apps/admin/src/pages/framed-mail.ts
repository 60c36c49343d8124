/**
 * Returns the CSP for hostile HTML in a frame: no scripts, forms, or requests, and an isolated origin. Remote images
 * load only if the reader opts in, because loading them reveals to the remote server that the message was opened.
 */
export function framedPolicy(remote_images: boolean): string {
  const images = remote_images ? 'data: https: http:' : 'data:';
  return `sandbox; default-src 'none'; img-src ${images}; style-src 'unsafe-inline'; frame-ancestors 'self'`;
}

/** Renders the message as a reader with the given color scheme sees it. The message's own theme rules apply. */
export function framedScheme(html: string, scheme: string | undefined): string {
  const [color, background] = scheme === 'dark' ? ['dark', '#18181a'] : ['light', '#fff'];
  return `<!doctype html><meta name="color-scheme" content="${color}"><style>:root{color-scheme:${color};background:${background}}body{margin:16px;font:16px/1.5 system-ui,sans-serif}</style>${html}`;
}
