import type { Services, UserActor } from '@postrider/core';
import { findSession } from '@postrider/core/people';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';

/** Browsers take a __Host- cookie only over https, with Secure, for this very host. */
export function cookieName(services: Pick<Services, 'config'>): string {
  return isHttps(services) ? '__Host-sid' : 'sid';
}

export function isHttps({ config }: Pick<Services, 'config'>): boolean {
  return config.PUBLIC_URL?.startsWith('https:') ?? false;
}

/** Who is signed in where this request comes from, or null. */
export async function sessionOf(services: Services, context: Context): Promise<UserActor | null> {
  const token = getCookie(context, cookieName(services));
  return token ? findSession(services, token) : null;
}
