export { createTransport } from './create-transport.ts';
export { deleteTransport } from './delete-transport.ts';
export { destinationInLane, transportInLane, VIA } from './lane-store.ts';
export { closeSpentLanes, countEmails, returnEmails } from './limit-store.ts';
export { listTransports } from './list-transports.ts';
export { ownerOf, reachField, requireOwn } from './ownership.ts';
export { previewRoute, type RoutePreview } from './preview-route.ts';
export { isRelayed, kindsOf, type UsedTransports, usedTransports } from './relayed.ts';
export { type RoutedEmail, type RuleBook, routeOf } from './route.ts';
export { getTransportRules, setTransportRules } from './rules.ts';
export {
  allRules,
  allTransports,
  changedWorkspaces,
  lockTransports,
  noteChange,
  noteJudged,
  type RuleRow,
  rulesOfWorkspaces,
  type TransportRow,
  transportById,
  transportsOfWorkspaces,
  transportsVersion,
} from './store.ts';
export {
  DEFAULT_TRANSPORT,
  envelopeSenders,
  type Rule,
  signingFor,
  signingPolicies,
  type TransportEntry,
  tlsPolicies,
  transportKinds,
  transportNotFound,
  transportPurpose,
  transportRefField,
} from './transport.ts';
export { getTransportHealth, type TransportHealth } from './transport-health.ts';
export { unopenedPasswords } from './unopened-passwords.ts';
export { updateTransport } from './update-transport.ts';
