/**
 * The CSP of hostile HTML in a frame: no script, no form, no request, an origin of its own. Remote images load only if
 * the reader asks for them, because their server learns that the mail was opened.
 */
export function framedPolicy(remote_images: boolean): string {
  const images = remote_images ? 'data: https: http:' : 'data:';
  return `sandbox; default-src 'none'; img-src ${images}; style-src 'unsafe-inline'; frame-ancestors 'self'`;
}

/** Shows the mail as a reader with that theme sees it; the mail's own rules for the theme apply. */
export function framedScheme(html: string, scheme: string | undefined): string {
  const [color, background] = scheme === 'dark' ? ['dark', '#18181a'] : ['light', '#fff'];
  return `<!doctype html><meta name="color-scheme" content="${color}"><style>:root{color-scheme:${color};background:${background}}body{margin:16px;font:16px/1.5 system-ui,sans-serif}</style>${html}`;
}
