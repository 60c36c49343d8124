/** What a page of ours may load: nothing but its own styles and frames. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
