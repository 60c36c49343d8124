export { keyOf, type RecipientKey } from './recipient-key.ts';
export { idleInSql, openInSql } from './sql-states.ts';
export {
  type DeliveryState,
  deliveryStates,
  messageStatus,
  openStates,
  type StateCounts,
  type TransitionName,
  transitions,
} from './state.ts';
