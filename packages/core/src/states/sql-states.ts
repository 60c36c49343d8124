import { literals } from '@postrider/db';
import { deliveryStates, openStates, transitions } from './state.ts';

/** The open states, for `state in (…)`. */
export const openInSql = literals(openStates);

/** The closed states, for `state in (…)`. */
export const closedInSql = literals(deliveryStates.filter((state) => !openStates.some((open) => open === state)));

/** The open states of a recipient that no worker is handling, for `state in (…)`. */
export const idleInSql = literals(transitions.cancel.from);
