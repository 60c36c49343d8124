import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Services } from '@postrider/core';
import { verifyOperator } from '@postrider/core/operators';
import type { Context, MiddlewareHandler } from 'hono';

/** Lets in whoever sits at the machine, and otherwise an operator by e-mail and password. */
export function localOrOperator(services: Services): MiddlewareHandler {
  return async (context, next) => {
    if (isLocal(context) || (await isOperator(services, context.req.header('authorization')))) return next();
    context.header('www-authenticate', 'Basic realm="postrider", charset="UTF-8"');
    return context.text('Sign in with the e-mail address and the password of an operator.', 401);
  };
}

/**
 * A browser of this machine, talking to this process itself. A forwarded request comes from somebody else,
 * and a foreign Host name is a page that had its name re-bound to loopback to read what is here.
 */
function isLocal(context: Context): boolean {
  const peer = (getConnInfo(context).remote.address ?? '').replace(/^::ffff:/, '');
  const loopback = peer === '::1' || (isIP(peer) === 4 && peer.startsWith('127.'));
  const forwarded = context.req.header('x-forwarded-for') ?? context.req.header('forwarded');
  const { hostname } = new URL(context.req.url);
  return loopback && forwarded === undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

async function isOperator(services: Services, header: string | undefined): Promise<boolean> {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (!encoded) return false;
  const [email = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  return verifyOperator(services, email, password.join(':'));
}
