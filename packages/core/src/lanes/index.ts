export { destinationNamed } from './destination.ts';
export { limitDestination } from './limit-destination.ts';
export { type Destinations, listDestinations } from './list-destinations.ts';
export {
  FIRST_PACE,
  type LaneNews,
  laneNews,
  MOST_CAP,
  type Pace,
  paceAfter,
  pauseMs,
  reopened,
} from './pace.ts';
export { releaseDestination } from './release-destination.ts';
export { isRoom, roomOf } from './room.ts';
export {
  type ClosedReason,
  closeLane,
  countAgainstLimits,
  type DestinationLimit,
  destinationLimits,
  type Fetched,
  fetchDeliveries,
  forgetClosings,
  forgetLanes,
  LANES_IN_A_LOOK,
  parkDeliveries,
  parkedJobs,
  type Resumed,
  resumeParked,
  type Slice,
  tendLanes,
  unparkDeliveries,
  untendedLanes,
  type WantedMail,
  WORKSPACES_IN_A_SLICE,
} from './store.ts';
