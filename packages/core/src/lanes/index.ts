export {
  type ClosedReason,
  closedReasons,
  closeLane,
  forgetClosings,
  forgetLanes,
  LANES_PER_POLL,
  syncLanes,
  unsyncedLanes,
} from './closing-store.ts';
export { destinationNamed } from './destination.ts';
export { holdLane, isHoldLane } from './hold-lane.ts';
export { limitDestination } from './limit-destination.ts';
export { countAgainstLimits, type DestinationLimit, destinationLimits } from './limit-store.ts';
export { type Destinations, listDestinations } from './list-destinations.ts';
export {
  FIRST_PACE,
  isTurnedAway,
  type LaneNews,
  laneNews,
  MAX_CAP,
  type Pace,
  paceAfter,
  pauseMs,
  reopened,
} from './pace.ts';
export {
  dropParked,
  type FetchedJob as Fetched,
  fetchDeliveries,
  type MailRequest as WantedMail,
  moveParked,
  type ParkedEmail,
  type ParkedPage,
  parkDeliveries,
  parkedAfter,
  parkedJobs,
  parkedOfWorkspace,
  type ResumedJob as Resumed,
  resumeParked,
  type Slice,
  unparkDeliveries,
  WORKSPACES_IN_A_SLICE,
} from './parking-store.ts';
export { releaseDestination } from './release-destination.ts';
export { destinationOfLane, transportLane, transportOfLane } from './transport-lane.ts';
