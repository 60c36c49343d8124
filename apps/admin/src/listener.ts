import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Services } from '@postrider/core';
import { createApp } from './app.ts';

/** The admin face as a listener for the process's one HTTP server. */
export function createHandler(
  services: Services,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const listener = getRequestListener(createApp(services).fetch);
  return async (request, response) => {
    await listener(request, response);
  };
}
