import { AppError, httpStatus, retryAfterHeader, type Services } from '@postrider/core';
import { refuseAddress } from '@postrider/core/api-keys';
import { openContentLink } from '@postrider/core/messages';
import { Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';

const TOKEN = /^[\w-]{43}$/;

/**
 * Serves downloads by single-use link. The token authorizes the download, so no cookie or header is needed. An invalid
 * link counts against the client address, like an invalid key. An interrupted download does not use up the link.
 */
export function contentRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.get('/:token', async (context) => {
    // Link scanners send HEAD requests, which must not use up the link.
    if (context.req.method === 'HEAD') return context.body(null, 405, { allow: 'GET' });
    const token = context.req.param('token');
    const content = TOKEN.test(token) ? await openContentLink(services, token) : null;
    if (!content) {
      const fallback = new AppError('content_gone', 'This link was used or has expired. Ask for a new one.');
      const { error } = await refuseAddress(services, context.var.address, fallback);
      return context.text(error.message, httpStatus[error.code], retryAfterHeader(error, services.clock.now()));
    }
    const { outgoing } = context.env;
    const returnUnsentLink = () => {
      if (outgoing.writableFinished) return;
      content
        .giveBack()
        .catch((error: unknown) => services.log.error({ err: error }, 'failed to release a content link'));
    };
    if (outgoing.destroyed) returnUnsentLink();
    else outgoing.once('close', returnUnsentLink);
    // Content is always served as a download: an attachment from outside must not execute on this origin.
    return context.body(Uint8Array.from(content.bytes), 200, {
      'content-type': safeType(content.content_type),
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(content.filename.toWellFormed())}`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
  });
  return routes;
}

/** Returns the content type, or application/octet-stream if it is not a valid header value. */
function safeType(content_type: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(content_type) ? content_type : 'application/octet-stream';
}
