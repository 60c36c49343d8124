import { pino } from 'pino';
import type { Log } from '../operation/context.ts';

/** For programs that print something else. */
export const silentLog: Log = pino({ level: 'silent' });
