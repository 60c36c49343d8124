import { Postrider } from '@postrider/sdk';
import { adviceOn, Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { settingsOf } from './settings.ts';

const DEFAULT_URL = 'http://localhost:3000';
const TIMEOUT_MS = 30_000;

export function serviceUrl(terminal: Terminal): string {
  const { url: value, from } = settingsOf(terminal).url ?? { url: DEFAULT_URL, from: 'POSTRIDER_URL' };
  // Also accepts the URL of the API, which ends in /v1, as the URL of the service.
  const url = value.replace(/\/+$/, '').replace(/\/v1$/, '');
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new Problem({
    reason: 'invalid_environment',
    message: `${from} is ${value}, which is not an HTTP or HTTPS URL.`,
    advice: `Set it to the URL that npm start prints, such as ${DEFAULT_URL}.`,
  });
}

/** Returns the API key to use. */
export function keyOf(terminal: Terminal): string {
  const { key } = settingsOf(terminal);
  if (!key) {
    throw new Problem({
      reason: 'missing_key',
      message: 'POSTRIDER_API_KEY is not set.',
      advice: adviceOn('missing_key'),
    });
  }
  // Rejects a key such as the … of an example, because fetch fails on it with an unclear error about bytes.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Problem({
    reason: 'malformed_key',
    message: 'POSTRIDER_API_KEY is not an API key.',
    advice: adviceOn('malformed_key'),
  });
}

/**
 * Creates the client of the service. The client never retries, because commands that retry report each wait themselves.
 */
export function createClient(terminal: Terminal): Postrider {
  const url = serviceUrl(terminal);
  return new Postrider({
    url,
    key: keyOf(terminal),
    timeout_ms: TIMEOUT_MS,
    max_retries: 0,
    fetch: async (input, init) => {
      const response = await request(url, String(input), init ?? {});
      if (response.headers.get('content-type')?.includes('json')) return response;
      throw notPostrider(url, response.status);
    },
  });
}

/** Returns every entry of a list. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const entries: T[] = [];
  for await (const entry of list) entries.push(entry);
  return entries;
}

/** Sends one request, with connection errors explained. */
export async function request(url: string, address: string, init: RequestInit): Promise<Response> {
  try {
    const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(address, { ...init, redirect: 'manual', signal });
    if (response.status < 300 || response.status >= 400) return response;
    throw new Problem({
      reason: 'redirected',
      message: `${url} redirects to ${response.headers.get('location') ?? 'another URL'}. The redirect was not followed.`,
      advice: 'Set POSTRIDER_URL to the URL of Postrider itself.',
    });
  } catch (error) {
    if (error instanceof Problem || (error instanceof TypeError && error.cause === undefined)) throw error;
    throw new Problem({
      reason: 'unreachable',
      message: `No response from ${url}: ${causeOf(error)}.`,
      advice: 'Start Postrider, or set POSTRIDER_URL to the URL that it prints at the start.',
      passing: true,
    });
  }
}

export function notPostrider(url: string, status: number): Problem {
  return new Problem({
    reason: 'unexpected_answer',
    message: `${url} returned ${status}, but the response is not from Postrider.`,
    advice: 'Check POSTRIDER_URL and any proxy in between.',
    passing: status >= 500,
  });
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `timed out after ${TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  // For a host with several addresses, the cause is an AggregateError, whose own message may be empty.
  const causes: unknown[] = cause instanceof AggregateError ? [cause, ...cause.errors] : [cause];
  for (const one of causes) {
    if (!(one instanceof Error)) continue;
    if ('code' in one && one.code) return String(one.code);
    if (one.message) return one.message;
  }
  return error.message;
}
