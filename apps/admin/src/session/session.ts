import { AppError, factorRefusal, httpStatus, type Services, type UserActor } from '@postrider/core';
import { findSession } from '@postrider/core/people';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { AdminEnv } from '../admin-env.ts';
import { crossSiteRefusal, embeddingRefusal } from './own-origin.ts';

// The maximum session lifetime. The server decides when a session expires.
const COOKIE_SECONDS = 7 * 86_400;
const DEVICE_SECONDS = 180 * 86_400;
const PENDING_SECONDS = 600;

/**
 * Returns the cookie names and attributes. Browsers accept a __Host- cookie only over https, with Secure and without
 * Domain.
 */
function cookieOf({ config }: Pick<Services, 'config'>) {
  const secure = config.PUBLIC_URL?.startsWith('https:') ?? false;
  return {
    name: secure ? '__Host-sid' : 'sid',
    device_name: secure ? '__Host-device' : 'device',
    pending_name: secure ? '__Host-pending' : 'pending',
    about: { httpOnly: true, sameSite: 'Lax', path: '/', secure },
  } as const;
}

export function sessionToken(services: Services, context: Context): string | null {
  return getCookie(context, cookieOf(services).name) || null;
}

export function deviceToken(services: Services, context: Context): string | null {
  return getCookie(context, cookieOf(services).device_name) || null;
}

/** Returns the token of a sign-in that lacks the code. */
export function pendingToken(services: Services, context: Context): string | null {
  return getCookie(context, cookieOf(services).pending_name) || null;
}

export function keepPending(services: Services, context: Context, token: string): void {
  const { pending_name, about: cookie_options } = cookieOf(services);
  setCookie(context, pending_name, token, { ...cookie_options, maxAge: PENDING_SECONDS });
}

export function dropPending(services: Services, context: Context): void {
  const { pending_name, about: cookie_options } = cookieOf(services);
  deleteCookie(context, pending_name, cookie_options);
}

export function keepDevice(services: Services, context: Context, token: string): void {
  const { device_name, about: cookie_options } = cookieOf(services);
  setCookie(context, device_name, token, { ...cookie_options, maxAge: DEVICE_SECONDS });
}

export function keepSession(services: Services, context: Context, token: string): void {
  const { name, about: cookie_options } = cookieOf(services);
  setCookie(context, name, token, { ...cookie_options, maxAge: COOKIE_SECONDS });
}

export function dropSession(services: Services, context: Context): void {
  const { name, about: cookie_options } = cookieOf(services);
  deleteCookie(context, name, cookie_options);
}

/**
 * Returns the user of the session cookie in the workspace of the path, or in the default workspace. Returns null
 * without a session. Throws if the user has no access to the workspace.
 */
export async function sessionOf(services: Services, context: Context): Promise<UserActor | null> {
  const token = sessionToken(services, context);
  return token === null ? null : findSession(services, token, context.req.param('workspace_id') ?? null);
}

/** Sets `actor` for signed-in users and redirects other requests to the sign-in page. */
export function requireSession(
  services: Services,
  placement: Parameters<typeof embeddingRefusal>[1],
): MiddlewareHandler<AdminEnv> {
  return async (context, next) => {
    const foreign = crossSiteRefusal(services, context) ?? embeddingRefusal(context, placement);
    if (foreign) return context.text(foreign.message, httpStatus[foreign.code]);
    const actor = await sessionOf(services, context).catch((error: unknown) => {
      if (error instanceof AppError) return error;
      throw error;
    });
    if (actor instanceof AppError) return context.text(actor.message, httpStatus[actor.code]);
    const refusal = actor && factorRefusal(actor);
    if (refusal && context.req.method !== 'GET') return context.text(refusal.message, httpStatus[refusal.code]);
    if (refusal) return context.redirect(`/w/${actor.workspace_id}/settings/account`);
    if (actor) {
      context.set('actor', actor);
      return next();
    }
    if (context.req.method !== 'GET') {
      const { message, code } = new AppError('session_ended', 'You are not signed in. Sign in and retry.');
      return context.text(message, httpStatus[code]);
    }
    const { pathname, search } = new URL(context.req.url);
    return context.redirect(`/login?next=${encodeURIComponent(pathname + search)}`);
  };
}
