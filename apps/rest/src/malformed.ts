import { STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, errorBody, httpStatus, newId, retryAfterSeconds, type Services } from '@postrider/core';
import { countPublic } from '@postrider/core/api-keys';
import { peerAddress } from '@postrider/net';
import { answerHeaders } from './respond.ts';
import { unknownWindow } from './unknown-window.ts';

/**
 * Responds to input that Node could not parse as a request, with the usual body and headers. The input counts against
 * the client address, like every request without a key.
 */
export function createMalformedHandler(services: Services): (fault: Error, socket: Duplex) => Promise<void> {
  return async (fault, socket) => {
    const request_id = newId('request', services.clock.now());
    let error = faultOf(fault);
    let window = unknownWindow(services, 'address');
    try {
      const window_count = await countPublic(services, socket instanceof Socket ? peerAddress(socket) : '0.0.0.0');
      window = window_count.window;
      if ('error' in window_count) error = window_count.error;
    } catch (cause) {
      services.log.error({ err: cause, request_id }, 'failed to count a malformed request');
    }
    if (!socket.writable) return;
    const status = httpStatus[error.code];
    const body = errorBody(error, request_id, services.public_url);
    const text = JSON.stringify(body);
    const headers = answerHeaders(
      {
        status,
        body,
        request_id,
        window,
        window_name: 'address',
        retry_after_seconds: error.code === 'rate_limited' ? retryAfterSeconds(error, services.clock.now()) : null,
        replayed: false,
        ignored_fields: [],
        close: true,
      },
      Buffer.byteLength(text),
    );
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
    socket.end(`${head}\r\n${text}`);
  };
}

function faultOf(fault: Error): AppError {
  if ('code' in fault && fault.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('body_timeout', 'The request timed out. Send it faster or in smaller parts.');
  }
  return new AppError('malformed_request', 'Malformed HTTP request. Check your HTTP client.');
}
