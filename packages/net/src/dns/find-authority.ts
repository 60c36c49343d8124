import { askServer, type QueryOutcome } from './ask-server.ts';
import type { DnsReply, NameServer, RecordType } from './message.ts';

/** Where the walk starts, and which of the servers it finds may be queried. */
export interface Authority {
  readonly roots: readonly NameServer[];
  /** Returns the reason why an address may not be queried, or null if it may be. */
  guard(address: string): string | null;
  /** The port of every server found on the way. */
  readonly port: number;
}

/** The servers of a zone. */
interface Delegation {
  readonly zone: string;
  readonly servers: readonly NameServer[];
}

const TRY_MS = 1000;
const MAX_QUERIES = 30;
const MAX_SERVERS = 4;
const MAX_STEPS = 16;
const MAX_DEPTH = 3;
const KEEP_MS = 300_000;
const MAX_KEPT = 1000;

export interface WalkResult {
  readonly outcome: QueryOutcome;
  /** True if no root server responded, so the network blocks outgoing DNS. */
  readonly shut: boolean;
}

/**
 * Creates a walk that queries the servers a name is delegated to, starting from the root, so that no other resolver's
 * cache responds.
 */
export function createAuthorityWalk(authority: Authority, now: () => number = () => performance.now()) {
  const delegations = new Map<string, { readonly delegation: Delegation; readonly until: number }>();

  function keep(delegation: Delegation): void {
    delegations.delete(delegation.zone);
    delegations.set(delegation.zone, { delegation, until: now() + KEEP_MS });
    if (delegations.size > MAX_KEPT) for (const oldest of delegations.keys()) return void delegations.delete(oldest);
  }

  /** Returns the lowest zone above a name whose servers are known. */
  function nearest(name: string): Delegation {
    const labels = name.split('.');
    for (let index = 0; index < labels.length; index++) {
      const known = delegations.get(labels.slice(index).join('.'));
      if (known && known.until > now()) return known.delegation;
    }
    return { zone: '', servers: authority.roots };
  }

  return async (name: string, type: RecordType, signal: AbortSignal): Promise<WalkResult> => {
    let questions = 0;
    let shut = false;

    async function queryAny({ zone, servers }: Delegation, name: string, type: RecordType): Promise<QueryOutcome> {
      let outcome: QueryOutcome = { ok: false, why: 'no name server could be reached' };
      let has_answered = false;
      for (const server of servers) {
        if (signal.aborted || ++questions > MAX_QUERIES) {
          outcome = { ok: false, why: 'no name server responded in time' };
          break;
        }
        outcome = await askServer(server, { name, type, recurse: false }, TRY_MS);
        if (!outcome.ok) continue;
        has_answered = true;
        const { code, authoritative, answers } = outcome.reply;
        const is_answer = code === 'ok' || code === 'no_such_name';
        if (is_answer && (authoritative || answers.length > 0 || referralOf(outcome.reply, name, zone) !== null))
          return outcome;
        // RFC 1912 section 2.8: a lame server does not have the zone, so its empty response means nothing.
        outcome = { ok: false, why: is_answer ? `a name server of ${zone} does not know it` : reasonOf(code) };
      }
      if (zone === '' && !has_answered) shut = true;
      return outcome;
    }

    async function walk(name: string, type: RecordType, depth: number): Promise<QueryOutcome> {
      let delegation = nearest(name);
      for (let step = 0; step < MAX_STEPS; step++) {
        const outcome = await queryAny(delegation, name, type);
        if (!outcome.ok) return outcome;
        const referral = referralOf(outcome.reply, name, delegation.zone);
        if (referral === null) return outcome;
        const servers = await serversOf(outcome.reply, referral, depth);
        if (servers.length === 0) return { ok: false, why: `the name servers of ${referral} could not be found` };
        delegation = { zone: referral, servers };
        keep(delegation);
      }
      return { ok: false, why: 'the delegations form a loop' };
    }

    async function serversOf(reply: DnsReply, zone: string, depth: number): Promise<NameServer[]> {
      const names = reply.authorities.flatMap((one) => (one.type === 'NS' && one.name === zone ? [one.text] : []));
      const addresses: string[] = [];
      for (const name of names.slice(0, MAX_SERVERS)) {
        const glue = reply.additionals.filter((one) => one.type === 'A' && one.name === name);
        if (glue.length > 0) addresses.push(...glue.map((one) => one.text));
        else if (addresses.length === 0 && depth < MAX_DEPTH && !name.endsWith(`.${zone}`)) {
          const outcome = await walk(name, 'A', depth + 1);
          if (outcome.ok)
            addresses.push(...outcome.reply.answers.flatMap((one) => (one.type === 'A' ? [one.text] : [])));
        }
      }
      return addresses
        .filter((address) => authority.guard(address) === null)
        .slice(0, MAX_SERVERS)
        .map((address) => ({ address, port: authority.port }));
    }

    const outcome = await walk(name.toLowerCase(), type, 0);
    return { outcome, shut };
  };
}

/**
 * Returns the zone that a reply refers to instead of answering. That zone lies below the queried zone, so a walk
 * terminates.
 */
function referralOf(reply: DnsReply, name: string, zone: string): string | null {
  if (reply.authoritative || reply.answers.length > 0 || reply.code !== 'ok') return null;
  const delegation_record = reply.authorities.find(
    (one) => one.type === 'NS' && (name === one.name || name.endsWith(`.${one.name}`)) && one.name.length > zone.length,
  );
  return delegation_record?.name ?? null;
}

export function reasonOf(code: DnsReply['code']): string {
  if (code === 'SERVFAIL') return 'the name server returned SERVFAIL';
  return code === 'REFUSED' ? 'the name server refused to answer' : 'the name server returned an error';
}
