import { AppError, createContext, httpStatus, idPrefixes, invoke, type Services } from '@postrider/core';
import { getCapture } from '@postrider/core/captures';
import { getContent } from '@postrider/core/messages';
import { Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';
import { requireSession } from '../session/session.ts';
import { framedPolicy, framedScheme } from './framed-mail.ts';

/** Serves the bare HTML of a sent or captured message, for a frame in the dashboard. */
export function previewRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(requireSession(services, 'in our frames'));
  routes.get('/:id', async (context) => {
    const { request_id, address, actor } = context.var;
    context.header('content-security-policy', framedPolicy(context.req.query('images') === '1'));
    try {
      const ctx = createContext(services, actor, { request_id, address, via: 'dashboard' });
      const id = context.req.param('id');
      const { html } = id.startsWith(idPrefixes.capture)
        ? await invoke(ctx, getCapture, { id })
        : await invoke(ctx, getContent, { id });
      return context.html(framedScheme(html ?? '', context.req.query('scheme')));
    } catch (error) {
      if (error instanceof AppError) return context.text(error.message, httpStatus[error.code]);
      throw error;
    }
  });
  return routes;
}
