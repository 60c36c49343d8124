/** The domain whose addresses say what is to happen to them. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** What the local part of an address asks for. */
export type Script =
  | { readonly kind: 'accept' }
  /** Refused for good at RCPT. */
  | { readonly kind: 'bounce'; readonly status: string }
  /** So many temporary failures for each message and recipient, then accepted. */
  | { readonly kind: 'defer'; readonly times: number }
  /** Accepted after a while. */
  | { readonly kind: 'slow'; readonly seconds: number }
  /** The connection is cut after the final dot, once for each message and recipient, then accepted. */
  | { readonly kind: 'drop_after_data' }
  /** Accepted; a complaint comes back by mail. */
  | { readonly kind: 'complain' }
  /** Accepted; a report that it could not be delivered comes back by mail. */
  | { readonly kind: 'dsn'; readonly status: string }
  /** A script that is not written right, with how to write it. */
  | { readonly kind: 'malformed'; readonly advice: string };

/**
 * Whether a lane holds mail for the simulator's domain, which nobody else serves: what fails there fails because its
 * address asks for it.
 */
export function isSimulatorLane(lane: string): boolean {
  return /(?:^|[ .])simulator\.test$/.test(lane);
}

export const LONGEST_SECONDS = 300;
const MOST_DEFERRALS = 100;
const PERMANENT = /^5\.\d{1,3}\.\d{1,3}$/;

const plainScripts = new Map<string, Script>([
  ['delivered', { kind: 'accept' }],
  ['drop-after-data', { kind: 'drop_after_data' }],
  ['complain', { kind: 'complain' }],
]);

interface ArgumentScript {
  /** null for an argument that cannot be. */
  read(argument: string): Script | null;
  readonly advice: string;
}

const argumentScripts = new Map<string, ArgumentScript>([
  ['bounce', { read: permanent('bounce'), advice: 'a status code of class 5, as in bounce+5.1.1@' }],
  ['dsn', { read: permanent('dsn'), advice: 'a status code of class 5, as in dsn+5.2.2@' }],
  ['defer', { read: readDefer, advice: `how often, from 1 to ${MOST_DEFERRALS}, as in defer+3@` }],
  ['slow', { read: readSlow, advice: `how long, up to ${LONGEST_SECONDS / 60}m, as in slow+30s@` }],
]);

/**
 * What is to happen to an address. Anybody who is not in the simulator's domain, or has no script there, takes
 * mail. Behind a script and its argument a +label may stand, so that one script has many addresses.
 */
export function scriptOf(address: string): Script {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== SIMULATOR_DOMAIN) return { kind: 'accept' };
  const [name = '', argument = ''] = address.slice(0, at).toLowerCase().split('+');
  const known = argumentScripts.get(name);
  if (!known) return plainScripts.get(name) ?? { kind: 'accept' };
  const advice = `write ${name}+ and ${known.advice}${SIMULATOR_DOMAIN}`;
  return known.read(argument) ?? { kind: 'malformed', advice };
}

function permanent(kind: 'bounce' | 'dsn'): (argument: string) => Script | null {
  return (argument) => (PERMANENT.test(argument) ? { kind, status: argument } : null);
}

function readDefer(argument: string): Script | null {
  const times = /^\d{1,3}$/.test(argument) ? Number(argument) : 0;
  return times >= 1 && times <= MOST_DEFERRALS ? { kind: 'defer', times } : null;
}

function readSlow(argument: string): Script | null {
  const match = /^(\d{1,3})(s|m)$/.exec(argument);
  const seconds = match ? Number(match[1]) * (match[2] === 'm' ? 60 : 1) : 0;
  return seconds >= 1 && seconds <= LONGEST_SECONDS ? { kind: 'slow', seconds } : null;
}
