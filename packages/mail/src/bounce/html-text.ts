const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' };

/** Returns the text of an HTML page, one line per block. The result is for matching, not for display. */
export function htmlToText(html: string): string {
  const lines: string[] = [];
  let at = 0;
  let hidden = '';
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (hidden === '') lines.push(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    const close = html.indexOf('>', open);
    if (close < 0) break;
    const tag = /^<(\/?[a-z0-9]{1,12}|!--)/i.exec(html.slice(open, open + 14))?.[1]?.toLowerCase() ?? '';
    // An unescaped address in angle brackets.
    const inside = html.slice(open, Math.min(close + 1, open + 330));
    if (hidden === '' && /^<[^\s<>"=/]+@[^\s<>"=/]+>$/.test(inside)) lines.push(inside);
    if (hidden === '' && ['style', 'script', 'title'].includes(tag)) hidden = `/${tag}`;
    else if (tag === hidden) hidden = '';
    if (/^\/?(?:br|p|div|tr|td|th|li|ul|table|h[1-6]|pre|hr|dd|dt)$/.test(tag)) lines.push('\n');
    at = close + 1;
  }
  return lines
    .join('')
    .replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]{2,5}));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : ' ';
    })
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n');
}
