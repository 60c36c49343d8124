import { AppError, httpStatus, retryAfterHeader, type Services } from '@postrider/core';
import { refuseAddress } from '@postrider/core/api-keys';
import { openContentLink } from '@postrider/core/messages';
import { Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';

const TOKEN = /^[\w-]{43}$/;

/**
 * Downloads by single-use links: the token authorizes, so that no cookie and no header is needed. A link that leads
 * nowhere counts against the client address, as a wrong key does. A download that breaks does not use the link up.
 */
export function contentRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.get('/:token', async (context) => {
    // A look at the headers, as scanners of links take, must not use it up.
    if (context.req.method === 'HEAD') return context.body(null, 405, { allow: 'GET' });
    const token = context.req.param('token');
    const content = TOKEN.test(token) ? await openContentLink(services, token) : null;
    if (!content) {
      const otherwise = new AppError('content_gone', 'This link was used or has expired. Ask for a new one.');
      const { error } = await refuseAddress(services, context.var.address, otherwise);
      return context.text(error.message, httpStatus[error.code], retryAfterHeader(error, services.clock.now()));
    }
    const { outgoing } = context.env;
    const giveBackUnsent = () => {
      if (outgoing.writableFinished) return;
      content
        .giveBack()
        .catch((error: unknown) => services.log.error({ err: error }, 'failed to release a content link'));
    };
    if (outgoing.destroyed) giveBackUnsent();
    else outgoing.once('close', giveBackUnsent);
    // Always a download: an attachment from outside must not run on this origin.
    return context.body(Uint8Array.from(content.bytes), 200, {
      'content-type': safeType(content.content_type),
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(content.filename.toWellFormed())}`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
  });
  return routes;
}

/** A type that is not a valid header value becomes that of plain bytes. */
function safeType(content_type: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(content_type) ? content_type : 'application/octet-stream';
}
