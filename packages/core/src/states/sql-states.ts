import { literals } from '@postrider/db';
import { openStates, transitions } from './state.ts';

/** The open states, for `state in (…)`. */
export const openInSql = literals(openStates);

/** The open states of a recipient that no worker has in hand, for `state in (…)`. */
export const idleInSql = literals(transitions.cancel.from);
