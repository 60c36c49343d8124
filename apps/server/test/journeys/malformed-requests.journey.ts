import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

describe('the HTTP listener', () => {
  let journey: Journey;
  let server: ServerProcess;
  beforeAll(async () => {
    journey = await openJourney();
    server = await journey.start();
  });
  afterAll(() => journey.stop());

  async function exchange(request: string): Promise<{ head: string; body: string }> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(request);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { head, body };
  }

  it('fairness P37: sends HSTS on every path if PUBLIC_URL uses https', async () => {
    const secure = await journey.start({ PUBLIC_URL: 'https://mail.good.test' });
    const hsts = async (server_process: ServerProcess, path: string) =>
      (await server_process.call('GET', path)).headers.get('strict-transport-security');

    for (const path of ['/healthz', '/v1/domains', '/login', '/graphql', '/resend/domains']) {
      expect(await hsts(secure, path), path).toBe('max-age=31536000');
      expect(await hsts(server, path), path).toBeNull();
    }
    await secure.end();
  });

  it.each([
    ['POST', '/v2/email/send'],
    ['GET', '/nope'],
    ['PUT', '/v1/email/send'],
  ])(
    'rejects %s %s with the standard error format, the request id and a documentation page (chaos C20)',
    async (method, path) => {
      const response = await server.call(method, path, { headers: { accept: 'application/json' } });

      expect(response.status).toBe(404);
      expect(response.body).toEqual({
        error: {
          code: 'not_found',
          reason: 'route_not_found',
          message: expect.any(String),
          request_id: response.headers.get('x-request-id'),
          docs_url: expect.stringMatching(/\/errors\/route_not_found$/),
        },
      });
    },
  );

  it.each([
    ['words that are no request', 'garbage\r\n\r\n'],
    [
      'two lengths of one body',
      'POST /v1/email/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a header that is too large', `GET /v1/usage HTTP/1.1\r\nHost: x\r\nX-Filler: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('rejects %s with the standard error format and the usual response headers', async (_what, request) => {
    const { head, body } = await exchange(request);
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(body)).toMatchObject({
      error: {
        code: 'invalid_request',
        reason: 'malformed_request',
        docs_url: expect.stringContaining('malformed_request'),
      },
    });
    const { error } = JSON.parse(body) as { error: { request_id: string } };
    expect(head.toLowerCase()).toContain(`x-request-id: ${error.request_id}`);
    expect(head.toLowerCase()).toMatch(
      /x-ratelimit-limit: 120\r\nx-ratelimit-remaining: \d+\r\nx-ratelimit-reset: \d+/,
    );
  });

  it('serves the page of the dashboard at /metrics to browsers, and the metrics to every other client', async () => {
    const typeFor = async (accept: string) =>
      (await fetch(`${server.url}/metrics`, { headers: { accept } })).headers.get('content-type');

    expect(await typeFor('text/html,application/xhtml+xml,*/*;q=0.8')).toMatch(/^text\/html/);
    expect(await typeFor('text/plain;version=0.0.4,*/*;q=0.1')).toMatch(/^application\/json/);
  });

  it('treats an absolute-form target like its path', async () => {
    const body = JSON.stringify(hello);
    const { head } = await exchange(
      `POST http://api.example.com/v1/email/send HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer ${journey.secret}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(head).toMatch(/^HTTP\/1\.1 202 /);
  });
});
