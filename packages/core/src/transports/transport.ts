import { canonicalDomain, headerProblem } from '@postrider/mail';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { priorities } from '../priorities/index.ts';
import type { RuleRow, TransportRow } from './store.ts';

/** The name of DELIVERY among the transports of a rule. */
export const DEFAULT_TRANSPORT = 'default';
export const MAX_TRANSPORTS = 100;
export const MAX_OWN_TRANSPORTS = 10;
export const MAX_RULES = 500;
export const MAX_OWN_RULES = 50;
const MAX_TRIED = 5;
const MAX_NAME_LENGTH = 100;
const MAX_CREDENTIAL_LENGTH = 500;

export const transportKinds = ['mx', 'smtp'] as const;
export const tlsPolicies = ['opportunistic', 'starttls', 'implicit', 'none'] as const;

export const nameField = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_LENGTH)
  .refine((name) => name !== DEFAULT_TRANSPORT, `${DEFAULT_TRANSPORT} is the transport of DELIVERY.`)
  .meta({ description: 'Unique, for people.', examples: ['SES Frankfurt'] });

const relayFields = {
  host: z
    .string()
    .trim()
    .min(1)
    .max(253)
    .meta({
      description: 'The host name or address of the relay.',
      examples: ['email-smtp.eu-central-1.amazonaws.com'],
    }),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .meta({ description: 'The port of the relay. Default: 587.', examples: [587] }),
  tls: z.enum(tlsPolicies).meta({
    description:
      'starttls: always, with a valid certificate. implicit: TLS from the first byte, as on port 465. opportunistic: STARTTLS if offered, with any certificate. none: never. A password is only sent over TLS with a valid certificate, unless tls is none or the relay is this machine. Default: starttls.',
  }),
  username: z.string().min(1).max(MAX_CREDENTIAL_LENGTH).nullable().meta({ description: 'null: no sign-in.' }),
  password: z.string().min(1).max(MAX_CREDENTIAL_LENGTH).meta({ description: 'Stored encrypted, and never returned.' }),
};

const MAX_HEADERS = 5;
const MAX_HEADER_LENGTH = 500;
const MAX_LIMIT = 1_000_000_000;
const ASCII = /^[\x20-\x7e]*$/;

export const signingPolicies = ['all', 'relay_safe', 'none'] as const;
export const envelopeSenders = ['ours', 'from_domain'] as const;
const limitField = z.int().min(1).max(MAX_LIMIT).nullable();

/** The settings that both kinds have. */
const sendingFields = {
  envelope_from: z.enum(envelopeSenders).meta({
    description:
      'ours: the return path of the domain or RETURN_PATH_DOMAIN, where bounces arrive. from_domain: the domain of the sender, for relays that accept only verified domains. Default: ours.',
  }),
  signing: z.enum(signingPolicies).meta({
    description:
      'all: DKIM covers every field. relay_safe: without Message-ID, Date, Return-Path and Bounces-To, which some relays replace. none: the relay signs. Default: relay_safe for Amazon SES, otherwise all.',
  }),
  headers: z
    .record(z.string(), z.string().max(MAX_HEADER_LENGTH).regex(ASCII, 'must be printable ASCII'))
    .superRefine((headers, check) => {
      const names = Object.keys(headers);
      const problem =
        names.length > MAX_HEADERS
          ? `has ${names.length} entries; the maximum is ${MAX_HEADERS}`
          : names
              .map((name) => headerProblem(name, headers[name] ?? '')?.message)
              .find((message) => message !== undefined);
      if (problem !== undefined) check.addIssue({ code: 'custom', message: problem });
    })
    .meta({
      description: `Added to every email, unsigned, at most ${MAX_HEADERS}. Headers of an email that steer a relay are removed.`,
      examples: [{ 'X-SES-CONFIGURATION-SET': 'transactional' }],
    }),
  max_connections: limitField.meta({
    description: 'Concurrent emails per destination, over all workers. null: no limit of its own.',
  }),
  messages_per_minute: limitField.meta({ description: 'Emails per minute, over all workers. null: no limit.' }),
  messages_per_day: limitField.meta({ description: 'Emails per day in UTC, over all workers. null: no limit.' }),
};

/** The settings of a transport, all optional. */
export const settingFields = z.object({ ...relayFields, ...sendingFields }).partial().shape;

export const transportSchema = z.object({
  object: objectName('transport'),
  id: z
    .string()
    .meta({ description: `The ID with the prefix ${idPrefixes.transport}; "${DEFAULT_TRANSPORT}" for DELIVERY.` }),
  workspace_id: z.string().nullable().meta({ description: 'Carries only email of this workspace. null: of all.' }),
  name: z.string().meta({ description: 'For people.' }),
  kind: z
    .enum([...transportKinds, 'capture'])
    .meta({ description: 'mx: to the recipients’ servers. smtp: through a relay. capture: to the test inbox.' }),
  host: z.string().nullable().meta({ description: 'The relay; null unless kind is smtp.' }),
  port: z.int().nullable().meta({ description: 'The port of the relay; null unless kind is smtp.' }),
  tls: z.enum(tlsPolicies).nullable().meta({ description: 'How the relay is reached; null unless kind is smtp.' }),
  username: z.string().nullable().meta({ description: 'The user at the relay; null: no sign-in.' }),
  envelope_from: z.enum(envelopeSenders).meta({ description: 'The domain of the envelope sender.' }),
  signing: z.enum(signingPolicies).meta({ description: 'What the DKIM signature covers.' }),
  headers: z.record(z.string(), z.string()).meta({ description: 'Added to every email, unsigned.' }),
  max_connections: z
    .int()
    .nullable()
    .meta({ description: 'Concurrent emails per destination. null: no limit of its own.' }),
  messages_per_minute: z.int().nullable().meta({ description: 'null: no limit.' }),
  messages_per_day: z.int().nullable().meta({ description: 'Per day in UTC. null: no limit.' }),
  created_at: timeField.nullable().meta({ description: 'null for DELIVERY.' }),
  updated_at: timeField.nullable().meta({ description: 'null for DELIVERY.' }),
});
export type TransportEntry = z.output<typeof transportSchema>;

export const transportRefField = z
  .string()
  .meta({ description: `The ID of a transport, or "${DEFAULT_TRANSPORT}".`, examples: [DEFAULT_TRANSPORT] });

export const domainField = z.string().transform((text, check) => {
  const domain = canonicalDomain(text);
  if (domain !== null) return domain;
  check.addIssue({ code: 'custom', message: 'must be a domain such as example.com' });
  return z.NEVER;
});

/** A rule applies to email that has all of its conditions. */
export const ruleSchema = z.object({
  workspace_id: idField(idPrefixes.workspace)
    .nullable()
    .default(null)
    .meta({ description: 'Email of this workspace. null: of all.' }),
  from_domain: domainField.nullable().default(null).meta({ description: 'Email from this domain. null: from any.' }),
  tag: z.string().min(1).max(128).nullable().default(null).meta({ description: 'Email with this tag. null: any.' }),
  priority: z.enum(priorities).nullable().default(null).meta({ description: 'Email of this priority. null: of any.' }),
  destination: domainField
    .nullable()
    .default(null)
    .meta({ description: 'Email to recipients at this domain. null: to any.' }),
  transports: z
    .array(transportRefField)
    .min(1)
    .max(MAX_TRIED)
    .refine((ids) => new Set(ids).size === ids.length, 'names a transport twice')
    .readonly()
    .meta({
      description: 'The transports in order of preference: the next one is used if the previous one cannot be reached.',
    }),
});
export type Rule = z.output<typeof ruleSchema>;

export const rulesSchema = z.object({
  object: objectName('transport_rules'),
  data: z.array(ruleSchema).readonly().meta({
    description: 'In order: the first that matches decides. Email that no rule matches uses the default transport.',
  }),
});
export type Rules = z.output<typeof rulesSchema>;

export function transportEntry(row: TransportRow): TransportEntry {
  const { password: _, feedback: _feedback, headers, created_at, updated_at, ...fields } = row;
  return {
    object: 'transport',
    ...fields,
    // The cast is safe because headers are stored as JSON of the schema's output.
    headers: JSON.parse(headers) as Record<string, string>,
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  };
}

export function ruleEntry({ workspace_id, from_domain, tag, priority, destination, transports }: RuleRow): Rule {
  return { workspace_id, from_domain, tag, priority, destination, transports };
}

const SES = /(?:^|\.)amazonaws\.com(?:\.cn)?$/;

/** Returns the signing that a relay does not break: SES replaces Message-ID and Date. */
export function signingFor(host: string): 'all' | 'relay_safe' {
  return SES.test(host) ? 'relay_safe' : 'all';
}

/** The purpose under which the password of a transport is encrypted. */
export function transportPurpose(id: string): string {
  return `transport ${id}`;
}

export function transportNotFound(id: string): AppError {
  return new AppError('transport_not_found', `No transport with ID ${id.slice(0, 64)}.`);
}
