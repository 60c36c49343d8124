/** Returns a request that sends an email, with a placeholder for the key. */
export function curlOf(body: object): string {
  return [
    `curl ${location.origin}/v1/email/send \\`,
    `  -H 'Authorization: Bearer <API key>' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

/** Returns the text as a single-quoted shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
