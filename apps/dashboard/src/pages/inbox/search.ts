export const captureTabs = ['preview', 'text', 'source', 'headers', 'raw', 'code'] as const;
export type CaptureTab = (typeof captureTabs)[number];

interface CaptureFilter {
  readonly to?: string;
  readonly from?: string;
  readonly subject?: string;
}

/** Parses a search such as `to:ada from:shop your code`. Words without a field name are matched against the subject. */
export function parseSearch(text: string): CaptureFilter {
  const words: string[] = [];
  const filters: { to?: string; from?: string } = {};
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const [, name, value] = /^(to|from):(.+)$/.exec(word) ?? [];
    if (name === 'to' || name === 'from') filters[name] = value ?? '';
    else if (word.includes('@')) filters.to = word;
    else words.push(word);
  }
  return { ...filters, ...(words.length > 0 && { subject: words.join(' ') }) };
}
