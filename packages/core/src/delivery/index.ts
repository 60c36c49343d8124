export {
  attemptDelivery,
  type Claimed,
  claimDeliveries,
  type DeliveryJob,
  type Mailers,
  type Settled,
  settleDeliveries,
} from './attempt.ts';
export { reconcileDeliveries } from './reconcile.ts';
export { type DeliveryState, deliveryStates, messageStatus, openStates, transitions } from './state.ts';
export { renewLeases } from './store.ts';
