import { z } from 'zod';

/** A time on the wire: ISO 8601 in UTC with milliseconds and Z, as isoTime writes it. */
export const timeField = z.string().meta({ format: 'date-time', examples: ['2030-01-31T09:00:00.000Z'] });

/** The nouns of the ids in the REST API. */
const nouns: Readonly<Record<string, string>> = {
  msg_: 'Email',
  rcp_: 'Recipient',
  att_: 'Attempt',
  evt_: 'Event',
  key_: 'API key',
  dom_: 'Domain',
  whk_: 'Webhook',
  whd_: 'Webhook delivery',
  sup_: 'Suppression',
  req_: 'Request',
  hld_: 'Hold',
  cap_: 'Capture',
  ers_: 'Erasure',
};

/** Returns the schema of an id field with this prefix, such as msg_… */
export function idField(prefix: string) {
  const noun = nouns[prefix];
  const description = `${noun === undefined ? 'ID' : `${noun} ID`} with the prefix \`${prefix}\`.`;
  return z.string().meta({ description, examples: [exampleId(prefix)] });
}

/** Returns the schema of the field that names the kind of an object. */
export function objectName<N extends string>(name: N) {
  return z.literal(name).meta({ description: `Always \`${name}\`.` });
}

/** The field that confirms a deletion. */
export const deletedField = z.literal(true).meta({ description: 'Always `true`.' });

export function exampleId(prefix: string): string {
  return `${prefix}01m7yakk5cmczahnwb48cs34mv`;
}

/** Returns the schema of a page of a list. */
export function listOf<T extends z.ZodType>(entry: T) {
  return z.object({
    object: objectName('list'),
    data: z.array(entry).readonly().meta({ description: 'The entries of this page.' }),
    has_more: z.boolean().meta({
      description:
        'Whether more entries follow. With filters, a page may have fewer entries than its limit, or none, even while this is true.',
    }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Pass it as cursor for the next page; null on the last page.' }),
  });
}
