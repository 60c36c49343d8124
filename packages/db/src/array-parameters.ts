// postgres.js types an array by its first element, and then sends a Date[] or Buffer[] as one value.
// Text is left for the server to type, so arrays of these travel as text.

/** For `${isoTimes(dates)}::timestamptz[]`. */
export function isoTimes(dates: readonly (Date | null)[]): (string | null)[] {
  return dates.map((date) => date?.toISOString() ?? null);
}

/** For `${hexTexts(buffers)}::text[]`, read back with `decode(column, 'hex')`. */
export function hexTexts(buffers: readonly Buffer[]): string[] {
  return buffers.map((buffer) => buffer.toString('hex'));
}
