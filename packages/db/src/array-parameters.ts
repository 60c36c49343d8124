// postgres.js types an array by its first element and sends a Date[] or Buffer[] as a single value. These arrays are
// therefore sent as text, which the server casts.

/** Formats dates for `${isoTimes(dates)}::timestamptz[]`. */
export function isoTimes(dates: readonly (Date | null)[]): (string | null)[] {
  return dates.map((date) => date?.toISOString() ?? null);
}

/** Formats buffers for `${hexTexts(buffers)}::text[]`, read back with `decode(column, 'hex')`. */
export function hexTexts(buffers: readonly Buffer[]): string[] {
  return buffers.map((buffer) => buffer.toString('hex'));
}
