import type { Config, Log } from '@postrider/core';
import { pino } from 'pino';
import pretty from 'pino-pretty';

// A log line never carries what a caller keeps secret, whatever object is logged.
const redact = ['authorization', 'cookie', 'set-cookie', 'secret', 'password', 'html', 'text'].flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.*["${name}"]`,
]);

/** Logs to standard error, so that standard output carries what a person asked for. */
export function createLog(config: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>, terminal: boolean): Log {
  const options = { level: config.LOG_LEVEL, redact, base: null, serializers: { err: plainError } };
  const format = config.LOG_FORMAT ?? (terminal ? 'pretty' : 'json');
  return format === 'pretty'
    ? pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
    : pino(options, pino.destination({ dest: 2, sync: false }));
}

/** Errors of drivers carry their connection with its keys, and details that quote rows; neither is logged. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: plainError(error.cause) }),
  };
}
