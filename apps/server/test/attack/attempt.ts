import type { ApiResult } from '../parity/apis.ts';
import type { Stage } from './stage.ts';

/** One attempt to access something that does not belong to the attacker. */
export interface Attempt {
  /** The attacker, who is the subject of the test's title. */
  readonly by: string;
  readonly request: string;
  readonly expected: string;
  /** Sets up the target. The returned function attacks the target and returns the outcome. */
  prepare(stage: Stage): Promise<() => Promise<string>>;
}

export function wordsOf(response: ApiResult): string {
  if ('value' in response) return `answered ${JSON.stringify(response.value)}`.slice(0, 200);
  const { code, reason, required_scope } = response.refusal;
  return [code, reason, required_scope].filter(Boolean).join(' ');
}

export interface HttpRequest {
  readonly to: 'rest' | 'admin';
  /** For example, GET /v1/email/logs. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Returns the status, and the code and reason of the error if the response has one. */
export async function http({ apis }: Stage, { to, line, headers = {}, body }: HttpRequest): Promise<string> {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(apis.origins[to] + path, {
    method,
    redirect: 'manual',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const location = response.headers.get('location');
  return [response.status, location?.replace(/\?.*/, '') ?? errorIn(text)].filter(Boolean).join(' ');
}

interface ErrorBody {
  readonly code?: string;
  readonly reason?: string;
  readonly data?: ErrorBody;
}

function errorIn(text: string): string {
  if (!text.startsWith('{')) return '';
  const { error, errors } = JSON.parse(text) as { error?: ErrorBody; errors?: { extensions: ErrorBody }[] };
  const { code = '', reason = '' } = errors?.[0]?.extensions ?? error?.data ?? error ?? {};
  return code === '' ? text.slice(0, 200) : `${code} ${reason}`;
}

/** Returns the code and enhanced code of an SMTP reply. */
export function replyOf(line: string): string {
  return /^\d{3} (?:\d\.\d+\.\d+)?/.exec(line)?.[0].trim() ?? line;
}
