import { z } from 'zod';
import { adviceOn, Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { settingsOf } from './settings.ts';

const DEFAULT_URL = 'http://localhost:3000';
const ANSWER_TIMEOUT_MS = 30_000;

const refusal = z.object({
  error: z.object({
    reason: z.string(),
    message: z.string(),
    details: z.array(z.object({ param: z.string(), message: z.string() })).optional(),
    request_id: z.string().optional(),
    docs_url: z.string().optional(),
  }),
});

export interface Client {
  readonly url: string;
  /** Calls /v1 and parses the answer with a schema; every failure is thrown as a Problem. */
  call<S extends z.ZodType>(method: string, path: string, answer: S, request?: CallOptions): Promise<z.output<S>>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function serviceUrl(terminal: Terminal): string {
  const { url: given, from } = settingsOf(terminal).url ?? { url: DEFAULT_URL, from: 'POSTRIDER_URL' };
  // The URL of the API works as well as that of the service.
  const url = given.replace(/\/+$/, '').replace(/\/v1$/, '');
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new Problem({
    reason: 'invalid_environment',
    message: `${from} is ${given}, which is not an http or https address.`,
    advice: `Set it to the address that npm start prints, such as ${DEFAULT_URL}.`,
  });
}

/** The key that requests carry. */
export function keyOf(terminal: Terminal): string {
  const { key } = settingsOf(terminal);
  if (!key) {
    throw new Problem({
      reason: 'missing_key',
      message: 'POSTRIDER_API_KEY is not set.',
      advice: adviceOn('missing_key'),
    });
  }
  // Such as the … of an example, for which fetch fails with an unclear error about bytes.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Problem({
    reason: 'malformed_key',
    message: 'POSTRIDER_API_KEY is not an API key.',
    advice: adviceOn('malformed_key'),
  });
}

export function createClient(terminal: Terminal): Client {
  const url = serviceUrl(terminal);
  return {
    url,
    async call(method, path, schema, { body, headers = {} } = {}) {
      const response = await ask(url, `${url}/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${keyOf(terminal)}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const answer: unknown = await response.json().catch(() => null);
      if (!response.ok) throw refused(url, response, answer);
      const parsed = schema.safeParse(answer);
      if (parsed.success) return parsed.data;
      throw notPostrider(url, response.status);
    },
  };
}

/** One request, with connection errors explained. */
export async function ask(url: string, address: string, request: RequestInit): Promise<Response> {
  try {
    const asked = { ...request, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) } as const;
    const response = await fetch(address, asked);
    if (response.status < 300 || response.status >= 400) return response;
    throw new Problem({
      reason: 'redirected',
      message: `${url} leads to ${response.headers.get('location') ?? 'another address'}; nothing was sent there.`,
      advice: 'Set POSTRIDER_URL to the address of Postrider itself.',
    });
  } catch (error) {
    if (error instanceof Problem || (error instanceof TypeError && error.cause === undefined)) throw error;
    throw new Problem({
      reason: 'unreachable',
      message: `No answer from ${url}: ${causeOf(error)}.`,
      advice: 'Start Postrider with npm start, or set POSTRIDER_URL to the address that it prints.',
      passing: true,
    });
  }
}

function refused(url: string, response: Response, answer: unknown): Problem {
  const parsed = refusal.safeParse(answer);
  if (!parsed.success) return notPostrider(url, response.status);
  const { error } = parsed.data;
  return new Problem({
    ...error,
    advice: adviceOn(error.reason),
    passing: response.status === 429 || response.status >= 500,
    retry_after_seconds: Number(response.headers.get('retry-after')) || undefined,
  });
}

export function notPostrider(url: string, status: number): Problem {
  return new Problem({
    reason: 'unexpected_answer',
    message: `${url} answered ${status} with something that is not from Postrider.`,
    advice: 'Check POSTRIDER_URL, and any proxy in between.',
    passing: status >= 500,
  });
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer in ${ANSWER_TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  // For a name with several addresses this is an AggregateError, whose own message may be empty.
  const causes: unknown[] = cause instanceof AggregateError ? [cause, ...cause.errors] : [cause];
  for (const one of causes) {
    if (!(one instanceof Error)) continue;
    if ('code' in one && one.code) return String(one.code);
    if (one.message) return one.message;
  }
  return error.message;
}
