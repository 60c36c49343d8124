import './types/messages.ts';
import { builder } from './builder.ts';

/** The whole schema: every file of types adds its own to the one builder. */
export const schema = builder.toSchema();
