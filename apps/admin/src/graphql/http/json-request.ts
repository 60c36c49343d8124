import { AppError, DEFAULT_BODY_BYTES } from '@postrider/core';
import { jsonMediaProblem } from '@postrider/net';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns a POST with its body decoded, or an error unless the body is UTF-8 JSON within the size limit, as in /v1.
 * Returns other requests unchanged.
 */
export async function jsonRequest(request: Request): Promise<Request | AppError> {
  if (request.method !== 'POST') return request;
  const problem = jsonMediaProblem(request.headers.get('content-type') ?? undefined);
  if (problem !== null) return new AppError('unsupported_media_type', problem);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > DEFAULT_BODY_BYTES)
      return new AppError(
        'body_too_large',
        'The body is larger than 100 kB. Send a smaller document or fewer variables.',
      );
    chunks.push(chunk);
  }
  const headers = new Headers(request.headers);
  headers.set('content-type', 'application/json');
  try {
    return new Request(request.url, {
      method: 'POST',
      headers,
      body: utf8.decode(Buffer.concat(chunks)),
      signal: request.signal,
    });
  } catch {
    return new AppError('malformed_json', 'The body is not valid UTF-8.');
  }
}
