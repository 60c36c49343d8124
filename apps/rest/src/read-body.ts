import type { IncomingMessage } from 'node:http';
import { AppError, type Parsed } from '@postrider/core';
import { jsonMediaProblem } from '@postrider/net';
import { jsonFault } from './json-fault.ts';

/** Bodies up to this size do not count against the body budget. */
export const UNBUDGETED_BYTES = 100 * 1024;
// A sender below this rate only occupies a socket (slowloris).
const PROGRESS_WINDOW_MS = 10_000;
const PROGRESS_BYTES = 1024;
// A body that occupies a share of the budget must not do so for long.
const LARGE_PROGRESS_BYTES = 320 * 1024;
// A full batch of maximum-size messages stays below this limit.
export const MAX_VALUES = 50_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses a JSON body. Failures are returned rather than thrown, so that an invalid key still takes
 * precedence. A large body waits for the body budget.
 */
export async function readBody(
  request: IncomingMessage,
  max_bytes: number,
  reserve: (bytes: number) => Promise<void>,
): Promise<Parsed<unknown>> {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers;
  if (Number(length ?? 0) > max_bytes) return refuse('body_too_large', tooLarge(max_bytes));
  if (!hasBody(request)) return { ok: true, value: undefined };
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return refuse('unsupported_media_type', 'Send the body without Content-Encoding.');
  }
  const media_problem = jsonMediaProblem(type);
  if (media_problem !== null) return refuse('unsupported_media_type', media_problem);
  if (Number(length ?? 0) > UNBUDGETED_BYTES) await reserve(Number(length));
  const bytes = await collect(request, max_bytes, length === undefined ? () => reserve(max_bytes) : null);
  if (bytes instanceof AppError) return { ok: false, error: bytes };
  if (hasTooManyValues(bytes)) return refuse('invalid_type', `The body has more than ${MAX_VALUES} values.`);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return refuse('malformed_json', 'The body is not valid UTF-8.');
  }
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return refuse('malformed_json', `The body is not valid JSON: ${jsonFault(text)}.`);
  }
}

/**
 * Returns whether a body contains too many values. Millions of tiny values in a body of permitted size would block the
 * event loop for seconds in JSON.parse, so commas and brackets outside strings are counted first.
 */
export function hasTooManyValues(json: Buffer): boolean {
  if (json.length <= MAX_VALUES) return false;
  let marks = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = textEnd(json, at + 1);
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) marks += 1;
    if (marks > MAX_VALUES) return true;
  }
  return false;
}

/** Returns the index of the closing quote, which is preceded by an even number of backslashes. */
function textEnd(json: Buffer, start: number): number {
  for (let quote = json.indexOf(QUOTE, start); quote >= 0; quote = json.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (before >= start && json[before] === BACKSLASH) before -= 1;
    if ((quote - 1 - before) % 2 === 0) return quote;
  }
  return json.length;
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** Reads a body, or returns why it cannot be read. */
export function collect(
  request: IncomingMessage,
  max_bytes: number,
  /** Called when a body without Content-Length is no longer small. */
  onLarge: (() => Promise<void>) | null,
): Promise<Buffer | AppError> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | AppError>();
  const declared = Number(request.headers['content-length'] ?? 0);
  let chunks: Buffer[] = [];
  // A large body of known length is read into place, so that it is in memory only once.
  let whole = declared > UNBUDGETED_BYTES ? Buffer.allocUnsafe(declared) : null;
  let received = 0;
  let before = 0;
  let finished = false;
  let waiting = false;
  let progress: NodeJS.Timeout | null = null;
  // Most bodies arrive with their headers and are complete before this runs. A timer for each would cost as much as
  // parsing.
  setImmediate(() => {
    if (finished) return;
    progress = setInterval(() => {
      const min = received > UNBUDGETED_BYTES || declared > UNBUDGETED_BYTES ? LARGE_PROGRESS_BYTES : PROGRESS_BYTES;
      if (received - before < min && !waiting)
        finish(new AppError('body_timeout', 'The body timed out. Send it faster.'));
      before = received;
    }, PROGRESS_WINDOW_MS);
  });
  const finish = (result: Buffer | AppError) => {
    finished = true;
    if (progress) clearInterval(progress);
    request.off('data', onData);
    // The listener for errors outlives the body, and would keep it in memory until the response.
    whole = null;
    chunks = [];
    if (result instanceof AppError) request.resume();
    resolve(result);
  };
  const onData = (chunk: Buffer) => {
    if (whole) chunk.copy(whole, received);
    else chunks.push(chunk);
    received += chunk.length;
    if (received > max_bytes) return finish(new AppError('body_too_large', tooLarge(max_bytes)));
    if (onLarge && received > UNBUDGETED_BYTES && received - chunk.length <= UNBUDGETED_BYTES)
      void waitForRoom(onLarge);
  };
  const waitForRoom = async (ask: () => Promise<void>) => {
    waiting = true;
    request.pause();
    try {
      await ask();
      waiting = false;
      request.resume();
    } catch (error) {
      request.resume();
      reject(error);
    }
  };
  request.on('data', onData);
  request.once('end', () => finish(whole ?? (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))));
  const onClose = () => finish(incompleteBody());
  request.once('error', onClose);
  if (request.destroyed) onClose();
  return promise;
}

/** Returns the error for a client that disconnected; it is for the log and for a half-open socket. */
export function incompleteBody(): AppError {
  return new AppError('malformed_json', 'The connection closed before the body was complete.');
}

function tooLarge(max_bytes: number): string {
  return `The body is larger than the ${max_bytes} bytes that this endpoint accepts.`;
}

function refuse(
  reason: 'body_too_large' | 'unsupported_media_type' | 'malformed_json' | 'invalid_type',
  message: string,
): Parsed<never> {
  return { ok: false, error: new AppError(reason, message) };
}
