import { AppError, type Services } from '@postrider/core';
import type { Context } from 'hono';

const reading = new Set(['GET', 'HEAD']);

/**
 * CSRF check: refuses requests that another site's page sent with this browser's cookie. Browsers set Origin and
 * Sec-Fetch-Site, and a page can forge neither; other clients send neither.
 */
export function crossSiteRefusal(services: Services, context: Context): AppError | null {
  const site = context.req.header('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return refusal();
  if (reading.has(context.req.method)) return null;
  const origin = context.req.header('origin');
  if (origin === undefined) return null;
  return isOwn(origin, services, context) ? null : refusal();
}

/**
 * A proxy may rewrite Host, so both the Host and PUBLIC_URL are own, each with the scheme of PUBLIC_URL only: a network
 * attacker can serve http:// of a host, but not https://.
 */
function isOwn(origin: string, { config, public_url }: Services, context: Context): boolean {
  if (origin === originOf(public_url)) return true;
  const scheme = config.PUBLIC_URL?.startsWith('https:') ? 'https' : 'http';
  return origin === `${scheme}://${context.req.header('host')}`;
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

function refusal(): AppError {
  return new AppError(
    'cross_site_request',
    'The request came from a page of another site; open the dashboard and retry there.',
  );
}
