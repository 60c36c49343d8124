/** Returns a command that waits for the first email captured for an address, as a test would. */
export function waitCurl(to: string): string {
  return `curl -G ${location.origin}/v1/captures -H 'Authorization: Bearer <API key>' --data-urlencode 'to=${to.replaceAll("'", '')}' -d wait=10`;
}

export function readCurl(id: string): string {
  return `curl ${location.origin}/v1/captures/${id} -H 'Authorization: Bearer <API key>'`;
}

export const readGraphql = `query Inbox($to: String) {
  captures(first: 1, filter: { to: $to }) {
    nodes { id subject links codes html text }
  }
}`;
