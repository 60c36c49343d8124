import { createHttpGuard } from '@postrider/net';
import { z } from 'zod';
import { AppError, refuseFields } from '../../operation/errors.ts';
import { issueFor } from '../../operation/parse-input.ts';
import type { Config } from '../../process/config.ts';
import { egressOf } from '../../process/egress.ts';

const LONGEST = 2000;
const FIRST_FREE_PORT = 1024;
/**
 * Below 1024, only the HTTP ports are allowed; above, every port except those of servers that might interpret a request
 * as commands of their own protocol.
 */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const OTHER_SERVERS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2375, 2376, 2379, 3306, 3389, 5432, 5672, 5900, 6000, 6379, 6380, 6443, 6667, 9042, 9092, 9200,
  9300, 10_250, 11_211, 27_017,
]);

// RFC 1035, section 2.3.4; a trailing dot is not counted.
const MAX_LABEL_LENGTH = 63;
const MAX_HOST_LENGTH = 253;

/**
 * Returns a field for an absolute http or https URL to which events or notices may be posted, normalized by the URL
 * standard.
 */
export function urlFieldNamed(name: string) {
  return z
    .string()
    .max(LONGEST)
    .meta({ format: 'uri', examples: ['https://example.com/hooks/postrider'] })
    .transform((text, context) => {
      const url = URL.canParse(text) ? new URL(text) : null;
      const problem = url ? problemOf(text, url) : 'is not an absolute HTTP or HTTPS URL';
      if (url && problem === null) return url.href;
      context.addIssue(issueFor('invalid_url', `${name} ${problem}. Use a URL such as https://example.com/hooks.`));
      return z.NEVER;
    });
}

export const urlField = urlFieldNamed('url');

function problemOf(text: string, url: URL): string | null {
  // The URL standard strips line breaks and tabs, so the stored URL would differ from the given one.
  if (/\p{Cc}/u.test(text)) return 'contains a control character';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `begins with ${url.protocol}`;
  if (url.hostname === '') return 'has no host';
  const host = url.hostname.replace(/\.$/, '');
  if (host.length > MAX_HOST_LENGTH) return `has a host of more than ${MAX_HOST_LENGTH} characters`;
  if (host.split('.').some((label) => label.length > MAX_LABEL_LENGTH))
    return `has a host with a label of more than ${MAX_LABEL_LENGTH} characters`;
  if (url.username !== '' || url.password !== '') return 'contains a user or a password';
  if (url.hash !== '') return 'has a fragment, which is never sent';
  const port = Number(url.port || 443);
  if (port < FIRST_FREE_PORT ? !WEB_PORTS.has(port) : OTHER_SERVERS.has(port))
    return `has port ${port}, which belongs to another service: use 80, 443 or a port above 1023`;
  return null;
}

/** Shortens a webhook URL for the audit log: its path and query often contain a secret. */
export function shownUrl(url: string): string {
  return `${new URL(url).origin}/…`;
}

// A public host contains a dot; a bracketed address contains colons.
const ONE_LABEL = /^(?!localhost$)[^.:]+\.?$/i;

/** Rejects unreachable hosts early. The real guard is the check of each connection's address. */
export async function requirePublic(config: Config, url: string, param = 'url'): Promise<void> {
  const { hostname } = new URL(url);
  if (ONE_LABEL.test(hostname) && config.WEBHOOK_ALLOW_NETWORKS === undefined) {
    const message = `${param} has the host ${hostname}, which is not public. Use a URL such as https://example.com/hooks.`;
    throw refuseFields([{ param, reason: 'invalid_url', message }]);
  }
  const guard = createHttpGuard(egressOf(config));
  const refusal = await guard.refusal(new URL(url)).finally(() => guard.stop());
  if (refusal === null) return;
  throw new AppError(
    'private_address',
    `${new URL(url).host} is not allowed: ${refusal}. Operators can allow networks with WEBHOOK_ALLOW_NETWORKS.`,
    { details: [{ param, reason: 'private_address', message: refusal }] },
  );
}
