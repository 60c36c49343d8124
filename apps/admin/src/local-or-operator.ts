import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Services } from '@postrider/core';
import { verifyOperator } from '@postrider/core/people';
import { countAddress, rateRefusal } from '@postrider/core/usage';
import type { Context, MiddlewareHandler } from 'hono';

const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
];

/** Lets in whoever sits at the machine, and otherwise an operator by e-mail and password. */
export function localOrOperator(services: Services): MiddlewareHandler {
  let lastCheck: Promise<unknown> = Promise.resolve();
  /** One password at a time: deriving one takes 128 MiB, and a flood of them must not take more. */
  const checkInTurn = (email: string, password: string): Promise<boolean> => {
    const check = lastCheck.then(() => verifyOperator(services, email, password));
    lastCheck = check.catch(() => undefined);
    return check;
  };
  return async (context, next) => {
    if (services.config.PUBLIC_URL === undefined && isLocal(context)) return next();
    const login = readLogin(context.req.header('authorization'));
    if (login) {
      const counted = await countAddress(services.sql, peerOf(context));
      const refusal = rateRefusal('address', counted);
      if (refusal) return context.text(refusal.message, 429);
      if (await checkInTurn(login.email, login.password)) return next();
    }
    context.header('www-authenticate', 'Basic realm="postrider", charset="UTF-8"');
    return context.text('Sign in with the e-mail address and the password of an operator.', 401);
  };
}

/**
 * A browser of this machine, talking to this process itself. A forwarded request comes from somebody else,
 * and a foreign Host name is a page that had its name re-bound to loopback to read what is here. Where a
 * PUBLIC_URL is set there is a proxy, which may hide both, so nobody is local.
 */
function isLocal(context: Context): boolean {
  const peer = peerOf(context);
  const loopback = peer === '::1' || (isIP(peer) === 4 && peer.startsWith('127.'));
  const forwarded = proxyHeaders.some((name) => context.req.header(name) !== undefined);
  const { hostname } = new URL(context.req.url);
  return loopback && !forwarded && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function peerOf(context: Context): string {
  return (getConnInfo(context).remote.address ?? '').replace(/^::ffff:/, '');
}

function readLogin(header: string | undefined): { readonly email: string; readonly password: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (!encoded) return null;
  const [email = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  // Postgres takes no NUL, and no login has one.
  if (email.includes('\0')) return null;
  return { email, password: password.join(':') };
}
