import type { Sql } from '@postrider/db';
import type { Clock } from '../fields/clock.ts';
import { newId } from '../fields/ids.ts';
import type { Log } from '../operation/context.ts';
import { type AppError, errorFields } from '../operation/errors.ts';
import type { RefusedRequest, RequestLog } from '../operation/ports.ts';
import type { Config } from '../process/config.ts';
import type { Metrics } from '../process/metrics.ts';
import { redactedBody, redactedText } from './redact.ts';
import { RequestShares } from './request-shares.ts';
import { insertRequests, type NewRequest, requestBytes, tendRequestDays } from './store.ts';

const MAX_WAITING = 10_000;
const BATCH = 500;
const FLUSH_MS = 1000;
const MAX_TABLE_BYTES = 1024 * 1024 * 1024;
/** Returns the retention period in days, rounded up because partitions are dropped by the day. */
export const keptDays = ({ RETENTION_REQUESTS }: Config) => Math.ceil(RETENTION_REQUESTS / 86_400);

interface Parts {
  readonly sql: Sql;
  readonly log: Pick<Log, 'warn'>;
  readonly config: Config;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'count'>;
}

/**
 * Creates a log of rejected and failed requests: they are redacted when noted and written in batches after their
 * responses.
 */
export function createRequestLog(parts: Parts): RequestLog {
  return new BoundedRequestLog(parts);
}

/**
 * Limits the rows per minute of one workspace or network, and the size of the table; further requests are only counted.
 * Requests that arrive while too many are waiting, or while the database does not accept them, are dropped and counted.
 */
class BoundedRequestLog implements RequestLog {
  readonly #parts: Parts;
  readonly #shares = new RequestShares();
  #waiting: NewRequest[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #full = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get dropped(): number {
    return this.#dropped;
  }

  note(request: RefusedRequest): void {
    const { config, clock } = this.#parts;
    // A network over its limit has already been notified; a row per further request would only fill the disk.
    if (config.REQUEST_LOG === 'off' || request.error.reason === 'address_rate') return;
    if (this.#shares.turn(clock.now())) this.#begin();
    if (this.#full) {
      this.#drop('table');
      return;
    }
    const row = rowOf(request);
    const portion = this.#shares.take(request, row.body?.length ?? 0);
    if (portion === 'nothing') this.#reject(request.actor === null ? 'network' : 'workspace');
    else this.#push(portion === 'whole' ? row : { ...row, body: null });
  }

  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    await this.#flush();
  }

  /** Starts a minute: requests that were only counted in the previous minute get a row, and the table is measured. */
  #begin(): void {
    const { clock } = this.#parts;
    for (const { last, count } of this.#shares.uncounted()) {
      const message = `${count} more requests were rejected within a minute and only counted. The last one: ${last.error.message}`;
      this.#push({ ...rowOf(last), id: newId('request', clock.now()), message: redactedText(message), body: null });
    }
    this.#writing = this.#writing.then(() => this.#measure());
  }

  #push(row: NewRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#drop('queue');
      return;
    }
    this.#waiting.push(row);
    this.#timer ??= setTimeout(this.#flush, FLUSH_MS).unref();
  }

  #drop(reason: 'table' | 'queue'): void {
    this.#dropped += 1;
    this.#reject(reason);
  }

  #reject(reason: string): void {
    this.#parts.metrics.count('share_rejected_total', ['request_log', reason]);
  }

  readonly #flush = (): Promise<void> => {
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  };

  async #write(): Promise<void> {
    const { sql, log, config } = this.#parts;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      try {
        // The day of the first request after a long pause may not have a partition yet.
        await insertRequests(sql, batch).catch(async () => {
          await tendRequestDays(sql, keptDays(config));
          await insertRequests(sql, batch);
        });
      } catch (error) {
        this.#dropped += batch.length;
        log.warn({ err: error, count: batch.length }, 'failed to log rejected requests');
      }
    }
  }

  /** Drops the oldest days of a table that is too large; if today alone is too large, nothing more is stored today. */
  async #measure(): Promise<void> {
    const { sql, log, config } = this.#parts;
    try {
      let bytes = await requestBytes(sql);
      for (let days = keptDays(config) - 1; bytes > MAX_TABLE_BYTES && days >= 1; days--) {
        await tendRequestDays(sql, days);
        bytes = await requestBytes(sql);
      }
      this.#full = bytes > MAX_TABLE_BYTES;
      if (this.#full) log.warn({ bytes }, 'the request log is full; rejected requests are only counted');
    } catch (error) {
      log.warn({ err: error }, 'failed to measure the request log');
    }
  }
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

/** Returns the invalid fields of an error, by JSON pointer. */
function faultsOf(error: AppError): { pointer: string; reason: string; message: string }[] {
  return (errorFields(error).details ?? []).map(({ param, reason, message }) => ({
    pointer: pointerOf(param),
    reason,
    message: redactedText(message),
  }));
}

/** Returns the RFC 6901 pointer of a path such as to[3].email. */
function pointerOf(param: string): string {
  const parts = param.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
