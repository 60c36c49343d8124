import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, errorBody, httpStatus, newId, retryAfterHeader, type Services } from '@postrider/core';
import { refuseAddress } from '@postrider/core/api-keys';
import { createFeedbackIntake, type FeedbackIntake, MAX_FEEDBACK_BYTES, matchFeedback } from '@postrider/core/feedback';
import { createClientAddress } from '@postrider/net';
import { collect } from './read-body.ts';

// What relays expect, unlike clients of the API.
const TOO_LARGE = 413;
const PATH = /^\/feedback\/([\w-]{1,64})$/;

/** Takes the posts in which relays report what became of email. The address and the signature are the proof. */
export function createFeedbackHandler(
  services: Services,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  const intake = createFeedbackIntake(services);
  const matches = createMatches(services);
  return async (request, response) => {
    const request_id = newId('request', services.clock.now());
    const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
    try {
      const received = await receive(intake, request);
      matches.start(received.transport_id);
      response.writeHead(200, { ...headers, 'x-request-id': request_id });
      response.end(JSON.stringify({ object: 'feedback', events: received.events, unread: received.unread }));
    } catch (cause) {
      const error = await refusalOf(services, clientAddress(request.socket, request.headers['x-forwarded-for']), cause);
      const status = error.reason === 'body_too_large' ? TOO_LARGE : httpStatus[error.code];
      const retry = retryAfterHeader(error, services.clock.now());
      response.writeHead(status, { ...headers, ...retry, 'x-request-id': request_id, connection: 'close' });
      response.end(JSON.stringify(errorBody(error, request_id, services.public_url)));
    }
  };
}

async function receive(intake: FeedbackIntake, request: IncomingMessage) {
  const [, token] = PATH.exec(request.url?.split('?', 1)[0] ?? '') ?? [];
  if (request.method !== 'POST' || token === undefined)
    throw new AppError('route_not_found', 'A relay posts its events to /feedback and the token of its transport.');
  return intake.receive(token, async () => {
    const body = await collect(request, MAX_FEEDBACK_BYTES, null);
    if (body instanceof AppError) throw body;
    return { headers: request.headers, body };
  });
}

/** Posts without a proof count against their address, like requests without a key. */
async function refusalOf(services: Services, address: string, cause: unknown): Promise<AppError> {
  if (!(cause instanceof AppError)) {
    services.log.error({ err: cause }, 'failed to receive feedback');
    return new AppError('unexpected', 'The events could not be stored. Repeat the post.');
  }
  if (cause.code === 'rate_limited') return cause;
  const { error } = await refuseAddress(services, address, cause).catch(() => ({ error: cause }));
  return error;
}

/** Matches the events of one transport at a time, each once more if a post arrived meanwhile. */
function createMatches(services: Services) {
  const running = new Map<string, { again: boolean }>();
  const run = async (transport_id: string, state: { again: boolean }) => {
    do {
      state.again = false;
      await matchFeedback(services, transport_id);
    } while (state.again);
  };
  return {
    start(transport_id: string): void {
      const state = running.get(transport_id);
      if (state) {
        state.again = true;
        return;
      }
      const started = { again: false };
      running.set(transport_id, started);
      run(transport_id, started)
        // A worker matches them within a minute.
        .catch((error: unknown) => services.log.error({ err: error, transport_id }, 'failed to match feedback'))
        .finally(() => running.delete(transport_id));
    },
  };
}
