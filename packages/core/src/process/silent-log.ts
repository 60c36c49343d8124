import { pino } from 'pino';
import type { Log } from '../operation/context.ts';

/** For programs that print their own output. */
export const silentLog: Log = pino({ level: 'silent' });
