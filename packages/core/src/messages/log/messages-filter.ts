import { canonicalDomain, domainOf } from '@postrider/mail';
import { z } from 'zod';
import { mailboxField } from '../../accept/index.ts';
import { type DeliveryState, deliveryStates } from '../../delivery/index.ts';
import { isId } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { issueFor } from '../../operation/parse-input.ts';
import type { KeyMode } from '../../operation/secrets.ts';
import { type Priority, priorityField } from '../../priorities/index.ts';
import { DEFAULT_TRANSPORT, transportRefField } from '../../transports/index.ts';

const MAX_TAGS = 5;

const statusText = z.string().meta({
  description: `One or more of these, comma-separated: ${deliveryStates.join(', ')}.`,
  examples: ['bounced,failed'],
});

const statusField = statusText.transform((text, context) => {
  const statuses = text.split(',').map((part) => part.trim());
  const known = statuses.filter((status): status is DeliveryState => deliveryStates.some((state) => state === status));
  if (known.length === statuses.length) return [...new Set(known)].sort();
  context.addIssue(issueFor('invalid_status', `status must be one or a comma list of ${deliveryStates.join(', ')}.`));
  return z.NEVER;
});

/** One or more tags, all of which must match. A tag that no message can have matches nothing. */
const tagField = z
  .union([z.string(), z.array(z.string()).meta({ maxItems: MAX_TAGS })], {
    error: 'must be a tag, or several of them',
  })
  .transform((value, context) => {
    const tags = [...new Set(typeof value === 'string' ? [value] : value)].sort();
    if (tags.length <= MAX_TAGS) return tags;
    context.addIssue(
      issueFor('too_many_tags', `tag is given ${tags.length} times; a message carries at most ${MAX_TAGS}.`),
    );
    return z.NEVER;
  });

/** Addresses are case-insensitive. */
const addressField = (name: string) => mailboxField(name).transform((mailbox) => mailbox.email.toLowerCase());

const domainText = z.string().meta({ examples: ['example.com'] });

const domainField = (name: string) =>
  domainText.transform((text, context) => {
    const domain = canonicalDomain(text);
    if (domain !== null) return domain;
    context.addIssue(issueFor('invalid_domain', `${name} must be a full domain name such as example.com.`));
    return z.NEVER;
  });

/** A deleted transport is valid, because its attempts remain. */
const transportField = transportRefField.refine(
  (id) => id === DEFAULT_TRANSPORT || isId('transport', id),
  `must be the ID of a transport, or "${DEFAULT_TRANSPORT}"`,
);

/** The filters of the log. `to` includes cc and bcc; `domain` is the sender's domain; `since` is inclusive. */
export const filterFields = {
  status: statusField.optional(),
  tag: tagField.optional().meta({ description: 'A tag; repeat the parameter to require several tags.' }),
  to: addressField('to').optional().meta({ description: 'A recipient, including cc and bcc.' }),
  from: addressField('from').optional().meta({ description: 'The sender address, case-insensitive.' }),
  domain: domainField('domain').optional().meta({ description: 'Sender domain.' }),
  to_domain: domainField('to_domain').optional().meta({ description: 'A recipient domain, including cc and bcc.' }),
  priority: priorityField.optional().meta({ description: 'Only emails with this priority.' }),
  transport: transportField.optional().meta({
    description: `Only emails attempted through this transport: its ID, or "${DEFAULT_TRANSPORT}" for DELIVERY.`,
  }),
  since: timestampField('since').optional().meta({ description: 'Created at or after this time.' }),
  until: timestampField('until').optional().meta({ description: 'Created before this time.' }),
};
export type FilterInput = z.output<z.ZodObject<typeof filterFields>>;

/** null: no filter. */
export interface MessageFilter {
  readonly statuses: readonly DeliveryState[] | null;
  readonly tags: readonly string[];
  readonly to: string | null;
  readonly from: string | null;
  readonly domain: string | null;
  readonly to_domain: string | null;
  readonly priority: Priority | null;
  readonly transport: string | null;
  /** The only mode the actor may access. */
  readonly mode?: KeyMode | null;
  /** Has a recipient that is waiting for a retry. */
  readonly deferred?: boolean;
  /** Whether any recipient has been attempted; null: no filter. */
  readonly tried?: boolean | null;
}

export function filterOf(input: FilterInput): MessageFilter {
  return {
    statuses: input.status ?? null,
    tags: input.tag ?? [],
    to: input.to ?? null,
    from: input.from ?? null,
    domain: input.domain ?? null,
    to_domain: input.to_domain ?? null,
    priority: input.priority ?? null,
    transport: input.transport ?? null,
  };
}

export function senderDomain(email: string): string {
  return domainOf(email);
}

export function countFilters({ tags, ...filter }: MessageFilter): number {
  const { statuses, to, from, domain, to_domain, priority, transport } = filter;
  return (
    tags.length + [statuses, to, from, domain, to_domain, priority, transport].filter((value) => value !== null).length
  );
}
