import type { FeedbackPost, FeedbackReport } from './provider.ts';

/**
 * Reads the entries of a JSON body: one, or an array of them. An entry of null is none of our business; one that is
 * undefined could not be read. One bad entry does not fail the others.
 */
export function readEntries(
  { body }: FeedbackPost,
  reportOf: (value: unknown, index: number) => FeedbackReport | null | undefined,
): { readonly reports: readonly FeedbackReport[]; readonly unread: number } {
  const reports = entriesIn(body).map(reportOf);
  return {
    reports: reports.filter((report) => report != null),
    unread: reports.filter((report) => report === undefined).length,
  };
}

function entriesIn(body: Buffer): unknown[] {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    return Array.isArray(value) ? value : [value];
  } catch {
    return [undefined];
  }
}

/** Removes the brackets of a Message-ID. */
export function bareMessageId(text: string | undefined): string | undefined {
  return text?.trim().replace(/^<|>$/g, '');
}
