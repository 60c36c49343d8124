import { totpCode } from '@postrider/testing';
import { wallTime } from '../faults/wall-time.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface Answer {
  readonly next?: string;
  readonly cookie: string;
}

async function post(port: number, path: string, form: Readonly<Record<string, string>>, cookie = ''): Promise<Answer> {
  const origin = `http://127.0.0.1:${port}`;
  const headers = { origin, cookie, accept: 'application/json' };
  const response = await fetch(origin + path, { method: 'POST', headers, body: new URLSearchParams(form) });
  const { next } = (await response.json()) as { next?: string };
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const answer = { cookie: cookies.filter((one) => !one.endsWith('=')).join('; ') };
  return next === undefined ? answer : { ...answer, next };
}

async function call<T>(port: number, procedure: string, input: object, cookie: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/trpc/${procedure}`, {
    method: 'POST',
    headers: { cookie, 'x-postrider': '1', 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${procedure} failed with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { result: { data: T } }).result.data;
}

/** Signs in with the password alone, and adds an authenticator app; returns its secret. */
export async function addAuthenticator(port: number, credentials: Credentials): Promise<string> {
  const { cookie } = await post(port, '/login', { ...credentials });
  const { secret } = await call<{ secret: string }>(port, 'people.beginTotp', {}, cookie);
  await call(port, 'people.activateTotp', { code: totpCode(secret, wallTime()) }, cookie);
  return secret;
}

/** Returns whether the password and a code of the app sign in. */
export async function signsIn(port: number, credentials: Credentials, secret: string): Promise<boolean> {
  const { next, cookie } = await post(port, '/login', { ...credentials });
  if (next !== '/login/code') return false;
  // The next step, because the first code may be of the current one.
  const response = await post(port, '/login/code', { code: totpCode(secret, wallTime(), 1) }, cookie);
  return response.next === '/';
}
