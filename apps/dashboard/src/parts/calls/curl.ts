/** A request that sends a mail, with a placeholder for the key. */
export function curlOf(body: object): string {
  return [
    `curl ${location.origin}/v1/email/send \\`,
    `  -H 'Authorization: Bearer <API key>' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

/** A single-quoted shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
