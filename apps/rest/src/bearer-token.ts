/** Returns the token of an `Authorization: Bearer` header: null without the header, empty for any other scheme. */
export function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  return /^Bearer (\S+)$/i.exec(header)?.[1] ?? '';
}
