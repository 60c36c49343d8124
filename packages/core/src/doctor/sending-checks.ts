import { isIP, connect as openSocket } from 'node:net';
import { domainOf } from '@postrider/mail';
import { createAddressGuard, type DnsLookup } from '@postrider/net';
import type { ActorContext } from '../operation/context.ts';
import { kindsOf, type UsedTransports } from '../transports/index.ts';
import { type Finding, failing, ok, skipped, warning } from './finding.ts';
import { spfOf } from './spf.ts';

type Parts = Pick<ActorContext, 'dns' | 'config'>;

const CONNECT_MS = 4000;
const MAX_ADDRESSES = 4;
/** The lists that receivers rely on most. */
const lists = ['zen.spamhaus.org', 'bl.spamcop.net', 'b.barracudacentral.org'] as const;
// A result in this network means that the list refuses queries from the resolver, not that the address is listed.
const RESOLVER_REFUSED = /^127\.255\.255\./;
const LISTED = /^127\./;
const NO_NAME = 'HELO_NAME is not set.';
const SET_NAME = "Set HELO_NAME to this machine's host name, whose A record has its sending address.";

/** Returns why checks of the sending address do not apply here; null if they do. */
export function notDirect(
  { DELIVERY }: Pick<ActorContext['config'], 'DELIVERY'>,
  transports: UsedTransports,
): Finding | null {
  const kinds = kindsOf({ DELIVERY }, transports);
  if (kinds.includes('capture')) return skipped('DELIVERY=capture sends no email out.');
  return kinds.includes('mx') ? null : skipped('Relays send from their own addresses.');
}

/** Returns the addresses that HELO_NAME resolves to, by which other servers know this machine. */
export async function addressesOf({ dns, config }: Parts): Promise<string[]> {
  if (config.HELO_NAME === undefined) return [];
  const name = config.HELO_NAME;
  const answers = await Promise.all([dns.lookup(name, 'A'), dns.lookup(name, 'AAAA')]);
  return answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : [])).slice(0, MAX_ADDRESSES);
}

export async function checkHelo({ config }: Parts, addresses: readonly string[]): Promise<Finding> {
  const name = config.HELO_NAME;
  if (name === undefined) return failing(NO_NAME, SET_NAME);
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(name))
    return failing(`HELO_NAME ${name} is not fully qualified.`, SET_NAME);
  if (addresses.length > 0) return ok(`${name} resolves to ${addresses.join(', ')}.`);
  return failing(`${name} has no address.`, `Publish an A record for ${name} with this machine's sending address.`);
}

export async function checkPtr({ dns, config }: Parts, addresses: readonly string[]): Promise<Finding> {
  if (addresses.length === 0) return skipped('The sending address is unknown. See helo.');
  const helo_name = config.HELO_NAME?.toLowerCase();
  for (const address of addresses) {
    const answer = await dns.lookup(reverseName(address), 'PTR');
    if (answer.kind === 'error')
      return warning(`The PTR lookup for ${address} failed: ${answer.message}.`, 'Run it again.');
    const names = answer.kind === 'found' ? answer.records : [];
    if (names.some((name) => name.toLowerCase() === helo_name)) continue;
    const ptr_text = names.length === 0 ? 'has no PTR record' : `has the PTR record ${names.join(', ')}`;
    return failing(
      `${address} ${ptr_text}.`,
      `Ask the owner of the address, usually your hosting provider, to set its PTR record to ${helo_name}.`,
    );
  }
  return ok(`${addresses.join(', ')} ${addresses.length === 1 ? 'resolves' : 'resolve'} to ${helo_name}.`);
}

export async function checkSpf({ dns, config }: Parts, addresses: readonly string[]): Promise<Finding> {
  const domain = config.RETURN_PATH_DOMAIN ?? config.HELO_NAME;
  if (addresses.length === 0 || domain === undefined) return skipped('The sending address is unknown. See helo.');
  const terms = addresses.map((address) => `ip${isIP(address)}:${address}`);
  for (const [index, address] of addresses.entries()) {
    const result = await spfOf(dns, domain, address);
    if (result === 'unknown') return warning(`The SPF lookup for ${domain} failed.`, 'Run it again.');
    if (result === 'none') {
      return failing(
        `${domain} has no SPF record.`,
        `Publish a TXT record for ${domain}: v=spf1 ${terms.join(' ')} -all`,
      );
    }
    if (result === 'fail')
      return failing(
        `The SPF record for ${domain} does not include ${address}.`,
        `Add ${terms[index]} before its all term.`,
      );
  }
  return ok(`The SPF record for ${domain} includes ${addresses.join(', ')}.`);
}

export async function checkBlocklists({ dns }: Parts, addresses: readonly string[]): Promise<Finding> {
  const known = addresses.filter((address) => isIP(address) === 4);
  if (known.length === 0) return skipped('No IPv4 address is known. See helo.');
  const lookups = known.flatMap((address) => lists.map((list) => ({ address, list })));
  const answers = await Promise.all(
    lookups.map(async ({ address, list }) => ({
      address,
      list,
      answer: await dns.lookup(`${address.split('.').reverse().join('.')}.${list}`, 'A'),
    })),
  );
  const codesOf = ({ answer }: (typeof answers)[number]) => (answer.kind === 'found' ? answer.records : []);
  const listed = answers.filter((one) =>
    codesOf(one).some((code) => LISTED.test(code) && !RESOLVER_REFUSED.test(code)),
  );
  if (listed.length > 0) {
    const listings = listed.map(({ address, list }) => `${address} at ${list}`).join(', ');
    return failing(
      `Listed: ${listings}.`,
      "Find and stop the email that caused the listing, then request removal on the list's site.",
    );
  }
  const denied = answers.filter(
    (one) => codesOf(one).some((code) => RESOLVER_REFUSED.test(code)) || one.answer.kind === 'error',
  );
  if (denied.length > 0) {
    const names = [...new Set(denied.map(({ list }) => list))].join(', ');
    return warning(
      `${names} did not respond to this resolver, so the result is unknown.`,
      'Set DNS_SERVERS to your own resolver, because these lists block public ones.',
    );
  }
  return ok(`${known.join(', ')} ${known.length === 1 ? 'is' : 'are'} not listed on ${lists.join(', ')}.`);
}

/** Connects to the mail server of the operator's own domain; nothing is sent. */
export async function checkPort25({ dns, config }: Parts): Promise<Finding> {
  const email = config.ALERT_EMAIL ?? config.ADMIN_EMAIL;
  const domain = email && domainOf(email);
  if (domain === undefined)
    return skipped('Neither ALERT_EMAIL nor ADMIN_EMAIL is set, so there is no mail server to test with.');
  const host = await mailHost(dns, domain);
  if (host === null) return warning(`${domain} has no reachable mail server.`, 'Set ADMIN_EMAIL to your own address.');
  const addresses = await dns.lookup(host, 'A');
  const guard = createAddressGuard(config.MX_ALLOW_NETWORKS);
  const address = addresses.kind === 'found' ? addresses.records.find((one) => guard(one) === null) : undefined;
  if (address === undefined) return warning(`${host} has no public address.`, 'Set ADMIN_EMAIL to your own address.');
  const greeting = await greetingOf(address, config.MX_PORT);
  const place = `${host} (${address}) on port ${config.MX_PORT}`;
  if (greeting === null) {
    return failing(
      `No response from ${place}.`,
      'Ask your hosting provider to open outbound port 25, or send through a relay: DELIVERY=smtp://….',
    );
  }
  if (/^220[ -]/.test(greeting)) return ok(`${place} greets.`);
  return warning(
    `${place} responded with ${greeting.slice(0, 100)}.`,
    'Read the response. The server may be blocking this address.',
  );
}

async function mailHost(dns: DnsLookup, domain: string): Promise<string | null> {
  const answer = await dns.lookup(domain, 'MX');
  if (answer.kind !== 'found') return null;
  const [best] = answer.records
    .map((record) => ({ preference: Number.parseInt(record, 10), host: record.replace(/^\d+ /, '') }))
    .sort((left, right) => left.preference - right.preference);
  return best?.host ?? null;
}

/** Returns the first line that a server sends; null if there is no connection, or no line in time. */
function greetingOf(address: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = openSocket({ host: address, port });
    const end = (line: string | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(line);
    };
    const timer = setTimeout(() => end(null), CONNECT_MS);
    socket.once('data', (chunk: Buffer) => end(chunk.toString('latin1').split('\r\n', 1)[0] ?? ''));
    socket.once('error', () => end(null));
    socket.once('close', () => end(null));
  });
}

function reverseName(address: string): string {
  if (isIP(address) === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const [head, tail] = address.split('::');
  const [left, right] = [groups(head), groups(tail)];
  const zeros = Array<string>(address.includes('::') ? 8 - left.length - right.length : 0).fill('0');
  const digits = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}
