import { AppError, type Services } from '@postrider/core';
import type { Context } from 'hono';

const reading = new Set(['GET', 'HEAD']);

/**
 * Returns an error for a request that another site's page sent with this browser's cookie (CSRF), or null. Browsers set
 * Origin and Sec-Fetch-Site, and a page can forge neither. Other clients send neither.
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
 * Returns an error if a page is fetched by a script or framed outside our own pages, because a script there could read
 * the page's text. Otherwise, returns null. Browsers send these headers only over https and to localhost.
 */
export function embeddingRefusal(context: Context, placement: 'in a window' | 'in our frames'): AppError | null {
  const dest = context.req.header('sec-fetch-dest');
  if (dest === undefined) return null;
  const navigated = context.req.header('sec-fetch-mode') === 'navigate';
  if (navigated && dest === 'document') return null;
  const own_frame = dest === 'iframe' && context.req.header('sec-fetch-site') === 'same-origin';
  if (navigated && own_frame && placement === 'in our frames') return null;
  return new AppError('cross_site_request', 'Open this URL directly in a browser window.');
}

/**
 * Returns whether an origin is our own. A proxy may rewrite Host, so both Host and PUBLIC_URL count, but only with the
 * scheme of PUBLIC_URL: a network attacker can serve http:// for a host, but not https://.
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
  return new AppError('cross_site_request', 'The request came from another site. Open the dashboard and retry there.');
}
