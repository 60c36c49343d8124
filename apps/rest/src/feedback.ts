import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, errorBody, httpStatus, newId, retryAfterHeader, type Services } from '@postrider/core';
import { refuseAddress } from '@postrider/core/api-keys';
import {
  createFeedbackIntake,
  type FeedbackIntake,
  type IntakeOptions,
  MAX_FEEDBACK_BYTES,
  matchFeedback,
} from '@postrider/core/feedback';
import { createClientAddress } from '@postrider/net';
import { collect, hasTooManyValues, MAX_VALUES } from './read-body.ts';
import { endAfterBody } from './respond.ts';

// What relays expect, unlike clients of the API.
const TOO_LARGE = 413;
const PATH = /^\/feedback\/([\w-]{1,64})$/;

/** Receives the bounces and complaints that relays report. The URL and the signature are the proof. */
export function createFeedbackHandler(
  services: Services,
  options: IntakeOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  const intake = createFeedbackIntake(services, options);
  const matches = createMatches(services);
  return async (request, response) => {
    const request_id = newId('request', services.clock.now());
    const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
    try {
      const { transport_id, events, unread } = await receive(intake, request);
      matches.start(transport_id);
      response.writeHead(200, { ...headers, 'x-request-id': request_id });
      response.end(JSON.stringify({ object: 'feedback', events, unread }));
    } catch (cause) {
      const error = await refusalOf(services, clientAddress(request.socket, request.headers['x-forwarded-for']), cause);
      const status = error.reason === 'body_too_large' ? TOO_LARGE : httpStatus[error.code];
      const retry = retryAfterHeader(error, services.clock.now());
      const text = JSON.stringify(errorBody(error, request_id, services.public_url));
      const close = { 'content-length': Buffer.byteLength(text), ...(!request.complete && { connection: 'close' }) };
      response.writeHead(status, { ...headers, ...retry, ...close, 'x-request-id': request_id });
      if (request.complete) response.end(text);
      else endAfterBody(response, text);
    }
  };
}

async function receive(intake: FeedbackIntake, request: IncomingMessage) {
  const [, token] = PATH.exec(request.url?.split('?', 1)[0] ?? '') ?? [];
  if (request.method !== 'POST' || token === undefined)
    throw new AppError('route_not_found', 'Feedback is sent with POST to the URL of a transport.');
  if (Number(request.headers['content-length'] ?? 0) > MAX_FEEDBACK_BYTES) throw tooLarge();
  return intake.receive(token, async () => {
    const body = await collect(request, MAX_FEEDBACK_BYTES, null);
    if (body instanceof AppError) throw body;
    if (hasTooManyValues(body)) throw tooLarge();
    return { headers: request.headers, body };
  });
}

function tooLarge(): AppError {
  return new AppError('body_too_large', `Send at most ${MAX_FEEDBACK_BYTES} bytes and ${MAX_VALUES} values.`);
}

/** Requests without a valid signature count against their address, like requests without a key. */
async function refusalOf(services: Services, address: string, cause: unknown): Promise<AppError> {
  if (!(cause instanceof AppError)) {
    services.log.error({ err: cause }, 'failed to receive feedback');
    return new AppError('unexpected', 'The events could not be stored. You can retry the request.');
  }
  if (cause.code === 'rate_limited') return cause;
  const { error } = await refuseAddress(services, address, cause).catch(() => ({ error: cause }));
  return error;
}

/** Matches the events of one transport at a time, each once more if more arrived meanwhile. */
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
      const fresh = { again: false };
      running.set(transport_id, fresh);
      run(transport_id, fresh)
        // A worker matches them within a minute.
        .catch((error: unknown) => services.log.error({ err: error, transport_id }, 'failed to match feedback'))
        .finally(() => running.delete(transport_id));
    },
  };
}
