import { AppError, type Services } from '@postrider/core';
import type { Context } from 'hono';

const reading = new Set(['GET', 'HEAD']);

/**
 * Refuses what a page of somebody else may have sent with this browser's cookie. Browsers name the page in Origin and
 * its relation to us in Sec-Fetch-Site, and a page can set neither; programs that are no browsers send neither.
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
 * Behind a proxy the Host may be another than the one that the browser knows, so both names are ours, and both by the
 * scheme of PUBLIC_URL alone: who can answer for http:// of a host is not who can answer for https:// of it.
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
    'This was sent by a page of another site; open the dashboard itself and try there.',
  );
}
