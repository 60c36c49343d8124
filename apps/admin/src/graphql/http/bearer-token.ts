/**
 * Returns the token of an `Authorization: Bearer` header. Returns null without the header and an empty string if it has
 * any other form.
 */
export function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  return /^Bearer (\S+)$/i.exec(header)?.[1] ?? '';
}
