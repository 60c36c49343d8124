export { type AddressGuard, createAddressGuard } from './address-guard.ts';
export { type ClientAddress, createClientAddress, peerAddress } from './client-address.ts';
export {
  createDnsLookup,
  type DnsAnswer,
  type DnsLookup,
  isConfiguredServerError,
  withDeadline,
} from './dns/lookup.ts';
export {
  createHttpGuard,
  type HttpDocument,
  type HttpGuard,
  type HttpGuardOptions,
  type HttpOutcome,
} from './http-guard.ts';
export { jsonMediaProblem } from './json-media.ts';
export { cleanRemoteText } from './remote-text.ts';
