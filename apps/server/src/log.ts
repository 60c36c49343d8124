import type { Config, Log } from '@postrider/core';
import { pino } from 'pino';
import pretty from 'pino-pretty';

// Callers' secrets are never logged, whatever object contains them.
const redact = ['authorization', 'cookie', 'set-cookie', 'secret', 'password', 'html', 'text'].flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.*["${name}"]`,
]);

/** Creates a log on stderr, because stdout is reserved for the startup banner. */
export function createLog(config: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>, terminal: boolean): Log {
  const options = { level: config.LOG_LEVEL, redact, base: null, serializers: { err: plainError } };
  const format = config.LOG_FORMAT ?? (terminal ? 'pretty' : 'json');
  return format === 'pretty'
    ? pino(options, pretty({ destination: toStderr(true), ignore: 'pid,hostname' }))
    : pino(options, toStderr(false));
}

/** Returns whether the output is closed: the pipe no longer has a reader, or the terminal was closed. */
export function isHungUp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'EIO');
}

function toStderr(sync: boolean) {
  const stream = pino.destination({ dest: 2, sync });
  stream.on('error', (error) => {
    if (!isHungUp(error)) throw error;
    // pino would retry the same write forever and keep the process alive.
    Object.assign(stream, { write: () => true, flushSync() {}, end() {}, destroy() {} });
  });
  return stream;
}

/**
 * Returns the parts of an error that may be logged. Driver errors contain their connection, including its keys, and
 * details that quote rows. Neither is logged.
 */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: error.code }),
    ...('stack' in error && { stack: error.stack }),
    ...('cause' in error && error.cause !== undefined && { cause: plainError(error.cause) }),
  };
}
