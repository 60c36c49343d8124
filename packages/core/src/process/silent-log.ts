import { pino } from 'pino';
import type { Log } from '../operation/context.ts';

/** For programs whose output is something else. */
export const silentLog: Log = pino({ level: 'silent' });
