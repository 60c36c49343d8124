/** The domain whose addresses name the outcome of their messages. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** The outcome that a local part requests. */
export type Script =
  | { readonly kind: 'accept' }
  /** Permanently rejected at RCPT. */
  | { readonly kind: 'bounce'; readonly status: string }
  /** Deferred `times` times per message and recipient, then accepted. */
  | { readonly kind: 'defer'; readonly times: number }
  /** Accepted after a delay. */
  | { readonly kind: 'slow'; readonly seconds: number }
  /** The connection is closed after the end of DATA, once per message and recipient; then the message is accepted. */
  | { readonly kind: 'drop_after_data' }
  /** Accepted, then a complaint is sent back. */
  | { readonly kind: 'complain' }
  /** Accepted, then a failure report is sent back. */
  | { readonly kind: 'dsn'; readonly status: string }
  /** Malformed; `advice` contains the correct form. */
  | { readonly kind: 'malformed'; readonly advice: string };

/**
 * Returns whether a lane belongs to the simulator's domain, where messages fail because their addresses request
 * failures.
 */
export function isSimulatorLane(lane: string): boolean {
  return /(?:^|[ .])simulator\.test$/.test(lane);
}

export const MAX_SECONDS = 300;
const MAX_DEFERRALS = 100;
const PERMANENT = /^5\.\d{1,3}\.\d{1,3}$/;

const plainScripts = new Map<string, Script>([
  ['delivered', { kind: 'accept' }],
  ['drop-after-data', { kind: 'drop_after_data' }],
  ['complain', { kind: 'complain' }],
]);

interface ArgumentScript {
  /** Returns the script for an argument, or null if the argument is invalid. */
  read(argument: string): Script | null;
  readonly advice: string;
}

const argumentScripts = new Map<string, ArgumentScript>([
  ['bounce', { read: permanent('bounce'), advice: 'a 5.x.x status code, such as bounce+5.1.1@' }],
  ['dsn', { read: permanent('dsn'), advice: 'a 5.x.x status code, such as dsn+5.2.2@' }],
  ['defer', { read: readDefer, advice: `a number from 1 to ${MAX_DEFERRALS}, such as defer+3@` }],
  ['slow', { read: readSlow, advice: `a duration up to ${MAX_SECONDS / 60}m, such as slow+30s@` }],
]);

/**
 * Returns the script of an address. An address outside the simulator's domain, or without a script, accepts messages. A
 * +label may follow a script and its argument, so that one script has many addresses.
 */
export function scriptOf(address: string): Script {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== SIMULATOR_DOMAIN) return { kind: 'accept' };
  const [name = '', argument = ''] = address.slice(0, at).toLowerCase().split('+');
  const known = argumentScripts.get(name);
  if (!known) return plainScripts.get(name) ?? { kind: 'accept' };
  const advice = `use ${name}+ and ${known.advice}${SIMULATOR_DOMAIN}`;
  return known.read(argument) ?? { kind: 'malformed', advice };
}

function permanent(kind: 'bounce' | 'dsn'): (argument: string) => Script | null {
  return (argument) => (PERMANENT.test(argument) ? { kind, status: argument } : null);
}

function readDefer(argument: string): Script | null {
  const times = /^\d{1,3}$/.test(argument) ? Number(argument) : 0;
  return times >= 1 && times <= MAX_DEFERRALS ? { kind: 'defer', times } : null;
}

function readSlow(argument: string): Script | null {
  const match = /^(\d{1,3})(s|m)$/.exec(argument);
  const seconds = match ? Number(match[1]) * (match[2] === 'm' ? 60 : 1) : 0;
  return seconds >= 1 && seconds <= MAX_SECONDS ? { kind: 'slow', seconds } : null;
}
