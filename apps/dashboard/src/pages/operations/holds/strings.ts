import type { Outputs } from '../../../api/trpc.ts';

type Hold = Outputs['holds']['list']['data'][number];

export const words = {
  title: 'Holds',
  answer: {
    none: 'No active holds.',
    some: (count: number, affected: number) =>
      `${count} active ${count === 1 ? 'hold' : 'holds'}, ${affected} held ${affected === 1 ? 'item' : 'items'}`,
  },
  create: 'Create hold',
  ended: 'Show ended holds',
  columns: {
    scope: 'Type',
    value: 'Target',
    reason: 'Reason',
    affected: 'Held items',
    by: 'By',
    since: 'Since',
    ends: 'Expires',
    state: 'Status',
  },
  scopes: {
    instance: 'Instance',
    queue: 'Queue',
    destination: 'Destination',
    sender_domain: 'Sending domain',
    api_key: 'API key',
    webhook: 'Webhook',
  },
  states: { active: 'Active', resuming: 'Releasing', ended: 'Ended' },
  release: 'Release',
  released: (value: string) => `${value} released`,
  releasing: {
    title: (value: string) => `Release ${value}?`,
    about: (count: number, reason: string, by: string) =>
      `${count.toLocaleString('en')} held ${count === 1 ? 'item' : 'items'}. Held by ${by}: ${reason}`,
    how: 'Release mode',
    ways: { ramp: 'Gradually', at_once: 'Immediately' },
    rate: 'Items per minute',
    rateAbout: 'Held email is sent at this rate. New email isn’t throttled.',
    submit: 'Release hold',
    conflict: (name: string) => `Already released by ${name} at`,
    unchanged: 'Nothing was changed. The release rate chosen at that time still applies.',
    close: 'Close',
    ramped: (value: string, rate: number) => `Releasing ${value} at ${rate.toLocaleString('en')} per minute`,
  },
  atOnce: 'Remove rate limit',
  rate: (rate: number) => `${rate.toLocaleString('en')} per minute`,
  endless: 'When released',
  newRows: (count: number) => `${count} new`,
  empty: {
    title: 'Pause sending with a hold',
    about:
      'If a destination rejects email or an application sends too much, create a hold. Nothing is lost, no retries are used up, and you choose the rate when you release it.',
  },
  creating: {
    title: 'Create hold',
    titleOf: (value: string) => `Hold ${value}`,
    queueAbout:
      'Workers stop taking jobs from this queue within two seconds. Nothing is lost, and no retries are used.',
    mailAbout: (everyone: boolean) =>
      `Matching email stays queued, without using up retries, until the hold is released or expires.${everyone ? ' Destination holds apply to all workspaces.' : ''}`,
    scope: 'Hold type',
    value: 'Target',
    instanceAbout: 'No email or webhook is sent for any workspace until you release the hold.',
    values: {
      queue: 'A queue name, such as delivery.attempt.',
      destination: 'A recipient domain, such as example.net. Applies to all workspaces.',
      sender_domain: 'A sending domain, such as example.com.',
      api_key: 'An API key ID, key_…',
      webhook: 'A webhook ID, whk_…',
    },
    reasonAbout: 'Shown on everything this hold affects and recorded in the audit log.',
    hours: 'Expires after (hours)',
    hoursAbout: 'Up to 720 (30 days).',
    endless: 'Leave empty to hold until released.',
    rate: 'Release rate (per minute)',
    rateAbout: 'How fast held email is sent. Leave empty to send it immediately.',
    submit: 'Create hold',
    done: (value: string) => `${value} held`,
  },
};

/** Returns the display name of a hold's target. */
export function targetOf({ scope, value }: Pick<Hold, 'scope' | 'value'>): string {
  return scope === 'instance' ? 'The whole instance' : value;
}
