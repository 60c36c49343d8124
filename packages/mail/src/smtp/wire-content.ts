const DOT = 0x2e;
const LINE_FEED = 0x0a;
const END = '.\r\n';
const END_AFTER_LINE = '\r\n.\r\n';
const ONE_DOT = Buffer.from('.', 'latin1');
const DOT_AT_START = Buffer.from('\n.', 'latin1');

/** The content as sent after DATA. The content is not copied unless a dot has to be doubled. */
export interface WireContent {
  readonly content: Buffer;
  /** The final lone dot, preceded by a line end if the content lacks one. */
  readonly ending: string;
}

/**
 * Prepares content for DATA (RFC 5321 section 4.5.2): doubles dots at the beginning of a line, and ends the content
 * with a lone dot. Line ends are left unchanged, because compose writes only CRLF. A dot after a bare LF is doubled
 * too, so that no server can mistake it for the end.
 */
export function wireContent(raw: Buffer): WireContent {
  const ending = raw.length > 0 && raw[raw.length - 1] !== LINE_FEED ? END_AFTER_LINE : END;
  if (raw[0] !== DOT && !raw.includes(DOT_AT_START)) return { content: raw, ending };
  const pieces: Buffer[] = raw[0] === DOT ? [ONE_DOT] : [];
  let from = 0;
  for (let at = raw.indexOf(DOT_AT_START); at >= 0; at = raw.indexOf(DOT_AT_START, at + 1)) {
    // The dot is written twice: at the end of this chunk and at the start of the next.
    pieces.push(raw.subarray(from, at + 2));
    from = at + 1;
  }
  return { content: Buffer.concat([...pieces, raw.subarray(from)]), ending };
}
