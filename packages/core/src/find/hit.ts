import { z } from 'zod';
import { timeField } from '../fields/wire.ts';

export const hitTypes = [
  'email',
  'recipient',
  'attempt',
  'event',
  'domain',
  'api_key',
  'webhook',
  'webhook_delivery',
  'suppression',
  'hold',
  'job',
  'bulk',
  'workspace',
  'audit',
  'request',
  'member',
  'destination',
  'tag',
] as const;
export type HitType = (typeof hitTypes)[number];

export const hitSchema = z
  .object({
    type: z.enum(hitTypes),
    id: z.string().meta({ description: 'As in every API; the name of a destination or a tag.' }),
    title: z.string(),
    detail: z.string().nullable().meta({ description: 'Its status, or what it is about.' }),
    at: timeField.nullable(),
    path: z
      .string()
      .meta({ description: 'Of its page in the dashboard.', examples: ['/emails/msg_01m7yakk5cmczahnwb48cs34mv'] }),
  })
  .meta({ id: 'Hit' });
export type Hit = z.output<typeof hitSchema>;

const at = encodeURIComponent;

/**
 * Returns the path of a thing's dashboard page. `parent` is the `within` of its hit, such as the message of a
 * recipient.
 */
const pathOf: Record<HitType, (id: string, parent: string) => string> = {
  email: (id) => `/emails/${at(id)}`,
  recipient: (_, parent) => `/emails/${at(parent)}`,
  attempt: (_, parent) => `/emails/${at(parent)}`,
  event: (_, parent) => (parent === '' ? '/emails' : `/emails/${at(parent)}`),
  domain: (_, parent) => `/domains/${at(parent)}`,
  api_key: (id) => `/settings/api-keys?key=${at(id)}`,
  webhook: (id) => `/webhooks/${at(id)}`,
  webhook_delivery: (id, parent) => `/webhooks/${at(parent)}?delivery=${at(id)}`,
  suppression: (_, parent) => `/suppressions?email=${at(parent)}`,
  hold: (id) => `/delivery/holds?hold=${at(id)}`,
  job: (id) => `/instance/jobs?job=${at(id)}`,
  bulk: (id) => `/delivery/bulk-actions/${at(id)}`,
  workspace: () => '/instance/workspaces',
  audit: (id) => `/settings/audit-log?open=${at(id)}`,
  request: (id) => `/logs?open=${at(id)}`,
  member: () => '/settings/members',
  destination: (id) => `/emails?q=${at(`at:${id}`)}`,
  tag: (id) => `/emails?q=${at(/\s/.test(id) ? `tag:"${id}"` : `tag:${id}`)}`,
};

export function hit(
  type: HitType,
  id: string,
  details: {
    readonly title: string;
    readonly detail?: string | null;
    readonly at?: string | null;
    readonly within?: string | null;
  },
): Hit {
  const { title, detail = null, at: time = null, within: parent } = details;
  return { type, id, title, detail, at: time, path: pathOf[type](id, parent ?? '') };
}
