import { type EventEntry, eventCatalogue } from '../../events/index.ts';
import { resendNames } from '../endpoints/format.ts';

const names: Readonly<Record<string, string | null>> = resendNames;
/** Resend uses SES bounce types. */
const bounceTypes = { hard: 'Permanent', soft: 'Transient' } as const;
const bounceSubTypes: Readonly<Record<string, string>> = {
  'hard mailbox': 'NoEmail',
  'soft quota': 'MailboxFull',
  'soft content': 'ContentRejected',
};
const domainStatuses: Readonly<Record<string, string>> = {
  pending: 'pending',
  verified: 'verified',
  at_risk: 'verified',
  failed: 'failed',
  suspended: 'failed',
};
const UNKNOWN_BOUNCE = { type: 'Undetermined', subType: 'Undetermined' } as const;

/** Returns Resend's name for a domain status. */
export function resendDomainStatus(status: string): string {
  return domainStatuses[status] ?? 'pending';
}

/** Returns Resend's name for a suppression source. */
export function resendOrigin(source: string): string {
  return source === 'bounce' || source === 'complaint' ? source : 'manual';
}

/** Splits "name:value" into Resend's {name, value}. */
export function resendTag(tag: string): { readonly name: string; readonly value: string } {
  const colon = tag.indexOf(':');
  return colon < 0 ? { name: tag, value: '' } : { name: tag.slice(0, colon), value: tag.slice(colon + 1) };
}

/** Returns an event in Resend's format: its type, its time and flat data. */
export function resendBody(entry: EventEntry): Readonly<Record<string, unknown>> {
  const { type, created_at, data } = entry;
  const facts = type.startsWith('email.') ? mailFacts(entry) : otherFacts(entry);
  return {
    type: names[type] ?? type,
    created_at,
    data: { ...facts, ...(data.test === true && { test: true }) },
  };
}

/**
 * Returns the data of an email event. An event about one recipient contains only that address in `to`, because
 * receivers act on every address there.
 */
function mailFacts({ type, created_at, email_id, data }: EventEntry): Readonly<Record<string, unknown>> {
  const { email, recipient } = data;
  return {
    created_at: email?.created_at ?? created_at,
    email_id,
    message_id: email?.message_id ?? '',
    from: email?.from ?? '',
    to: recipient === null ? (email?.to ?? []) : [recipient.email],
    subject: email?.subject ?? '',
    tags: Object.fromEntries((email?.tags ?? []).map(resendTag).map(({ name, value }) => [name, value])),
    ...outcomeFacts(type, data),
  };
}

function outcomeFacts(type: string, data: EventEntry['data']): Readonly<Record<string, unknown>> {
  const attempted = eventCatalogue['email.bounced'].facts.safeParse(data).data;
  const message = attempted?.response ?? '';
  switch (type) {
    case 'email.bounced':
      return { bounce: { message, ...bounceKind(attempted?.bounce) } };
    case 'email.failed':
      return { failed: { reason: typeof data.reason === 'string' ? data.reason : message } };
    case 'email.suppressed':
      return { suppressed: { message: 'The address is on the suppression list.', type: 'OnAccountSuppressionList' } };
    default:
      return {};
  }
}

function bounceKind(bounce: { readonly class: 'hard' | 'soft'; readonly category: string } | undefined) {
  if (!bounce) return UNKNOWN_BOUNCE;
  const subType = bounceSubTypes[`${bounce.class} ${bounce.category}`] ?? 'General';
  return { type: bounceTypes[bounce.class], subType };
}

function otherFacts({ type, created_at, data }: EventEntry): Readonly<Record<string, unknown>> {
  const domain = eventCatalogue['domain.verified'].facts.safeParse(data).data?.domain;
  if (domain) {
    const { id, name, status } = domain;
    return { id, name, status: resendDomainStatus(status), created_at, region: 'self-hosted', records: [] };
  }
  const suppression = eventCatalogue['suppression.added'].facts.safeParse(data).data?.suppression;
  if (suppression) {
    const { id, email, source, source_event_id } = suppression;
    return { id, email, origin: resendOrigin(source), source_id: source_event_id, created_at };
  }
  throw new Error(`${type} is posted in a format that has no name for it`);
}
