// Relays obey these fields: to in X-SMTPAPI, for example, adds recipients that no one has checked.
const PREFIXES = ['x-smtpapi', 'x-pm-', 'x-mailgun-', 'x-ses-', 'x-mailin-', 'x-sib-', 'x-mj-', 'x-mc-', 'x-msys-'];

/** Returns whether a header steers a relay. */
export function isSteeringHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return PREFIXES.some((prefix) => lower.startsWith(prefix));
}
