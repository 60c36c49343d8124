import { isIP } from 'node:net';
import { AppError, httpStatus, type Services, type UserActor } from '@postrider/core';
import { checkPassword } from '@postrider/core/people';
import { countAddress, rateRefusal } from '@postrider/core/usage';
import { peerAddress } from '@postrider/net';
import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { AdminEnv } from '../admin-env.ts';
import { sessionOf } from '../session/session.ts';
import { page } from './page.ts';

const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
];

/** Allows local requests, and operators by session or by Basic authentication. */
export function localOrOperator(services: Services): MiddlewareHandler<AdminEnv> {
  return async (context, next) => {
    if (services.config.PUBLIC_URL === undefined && isLocal(context)) {
      context.set('viewer', null);
      return next();
    }
    const actor = await sessionOf(services, context);
    if (actor?.scopes.includes('operator')) {
      context.set('viewer', actor);
      return next();
    }
    if (actor) return context.html(refusalPage('Operators only; sign in as an operator.'), 403);
    const login = readLogin(context.req.header('authorization'));
    if (login) {
      const { address } = context.var;
      const counted = await countAddress(services.sql, address);
      const known = rateRefusal('address', counted) ?? (await operatorOf(services, { ...login, address }));
      if (!(known instanceof AppError)) {
        context.set('viewer', known);
        return next();
      }
      if (known.code === 'rate_limited') return context.text(known.message, httpStatus[known.code]);
    }
    context.header('www-authenticate', 'Basic realm="postrider", charset="UTF-8"');
    return context.html(refusalPage('Sign in with the email address and password of an operator.'), 401);
  };
}

function refusalPage(text: string) {
  return page('Captured mail', html`<p>${text}</p><p><a href="/login?next=/captured">Sign in</a></p>`);
}

/** An operator for one request, without a session or a workspace. */
async function operatorOf(
  services: Services,
  login: Parameters<typeof checkPassword>[1],
): Promise<UserActor | AppError> {
  try {
    const { id, email, operator } = await checkPassword(services, login);
    if (!operator) return new AppError('invalid_login', 'Operators only.');
    return { kind: 'user', workspace_id: '', user_id: id, session_id: '', email, scopes: ['operator'] };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/**
 * A direct request over loopback. A forwarded request comes from elsewhere, and a foreign Host means DNS rebinding. With
 * PUBLIC_URL set there is a proxy, which may hide both, so no request counts as local.
 */
function isLocal(context: Context<AdminEnv>): boolean {
  const peer = peerAddress(context.env.incoming.socket);
  const loopback = peer === '::1' || (isIP(peer) === 4 && peer.startsWith('127.'));
  const forwarded = proxyHeaders.some((name) => context.req.header(name) !== undefined);
  const { hostname } = new URL(context.req.url);
  return loopback && !forwarded && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function readLogin(header: string | undefined): { readonly email: string; readonly password: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (!encoded) return null;
  const [email = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  return { email, password: password.join(':') };
}
