import { AppError } from '@postrider/core';

const SINGLE_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key'] as const;
type SingleHeader = (typeof SINGLE_HEADERS)[number];
const singleHeaders = new Map<string, SingleHeader>(SINGLE_HEADERS.map((name) => [name.toLowerCase(), name]));
const singleLengths = new Set<number>(SINGLE_HEADERS.map((name) => name.length));

/**
 * Returns the name of a header that may occur only once but occurs twice, or null if there is none. Node would use the
 * first value or join both.
 */
export function repeatedHeader(raw: readonly string[]): SingleHeader | null {
  let names = '';
  for (let at = 0; at < raw.length; at += 2) {
    const header = raw[at] ?? '';
    const name = singleLengths.has(header.length) ? singleHeaders.get(header.toLowerCase()) : undefined;
    if (name === undefined) continue;
    if (names.includes(name)) return name;
    names += name;
  }
  return null;
}

export function repeatedRefusal(name: string): AppError {
  return new AppError('malformed_request', `The header ${name} is set more than once. Set it once.`);
}
