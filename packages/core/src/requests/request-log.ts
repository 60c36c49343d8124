import type { Sql } from '@postrider/db';
import type { Log } from '../operation/context.ts';
import { type AppError, errorFields } from '../operation/errors.ts';
import type { RefusedRequest, RequestLog } from '../operation/ports.ts';
import type { Config } from '../process/config.ts';
import { redactedBody, redactedText } from './redact.ts';
import { insertRequests, type NewRequest, tendRequestDays } from './store.ts';

const MOST = 10_000;
const BATCH = 500;
const FLUSH_MS = 1000;
/** Partitions are dropped by the day. */
export const keptDays = ({ RETENTION_REQUESTS }: Config) => Math.ceil(RETENTION_REQUESTS / 86_400);

/**
 * Keeps refused and failed requests: redacted when they are noted, written in batches after their answers. What comes
 * while 10,000 wait, or while the database does not take them, is dropped and counted.
 */
export function createRequestLog({
  sql,
  log,
  config,
}: {
  readonly sql: Sql;
  readonly log: Pick<Log, 'warn'>;
  readonly config: Config;
}): RequestLog {
  let waiting: NewRequest[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        // The day of the first request after a long pause may have no partition yet.
        await insertRequests(sql, batch).catch(async () => {
          await tendRequestDays(sql, keptDays(config));
          await insertRequests(sql, batch);
        });
      } catch (error) {
        dropped += batch.length;
        log.warn({ err: error, count: batch.length }, 'refused requests were not logged');
      }
    }
  };
  const flush = () => {
    timer = null;
    writing = writing.then(write);
    return writing;
  };
  return {
    note(request) {
      if (config.REQUEST_LOG === 'off') return;
      if (waiting.length >= MOST) {
        dropped += 1;
        return;
      }
      waiting.push(rowOf(request));
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    get dropped() {
      return dropped;
    },
    async flush() {
      if (timer) clearTimeout(timer);
      await flush();
    },
  };
}

function rowOf(request: RefusedRequest): NewRequest {
  const { id, api, method, path, status, error, actor, secret_hash, input, duration_ms } = request;
  return {
    workspace_id: actor?.workspace_id ?? '',
    id,
    api,
    method,
    path,
    status,
    code: error.code,
    reason: error.reason,
    message: redactedText(error.message),
    api_key_id: actor?.kind === 'key' ? actor.key_id : null,
    user_id: actor?.kind === 'user' ? actor.user_id : null,
    duration_ms: Math.round(duration_ms),
    details: JSON.stringify(faultsOf(error)),
    body: redactedBody(input),
    secret_hash: actor ? null : secret_hash,
  };
}

/** The bad fields of an error, by their JSON pointers. */
function faultsOf(error: AppError): { pointer: string; reason: string; message: string }[] {
  return (errorFields(error).details ?? []).map(({ param, reason, message }) => ({
    pointer: pointerOf(param),
    reason,
    message: redactedText(message),
  }));
}

/** RFC 6901, of a path such as to[3].email. */
function pointerOf(param: string): string {
  const parts = param.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
