/** The token of an `Authorization: Bearer` header: null without the header, empty for another scheme. */
export function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  return /^Bearer (\S+)$/i.exec(header)?.[1] ?? '';
}
