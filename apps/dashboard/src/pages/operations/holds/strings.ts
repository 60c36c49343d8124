import type { Outputs } from '../../../api/trpc.ts';

type Hold = Outputs['holds']['list']['data'][number];

export const words = {
  title: 'Holds',
  answer: {
    none: 'Nothing is held: everything that is due goes out.',
    some: (count: number, affected: number) =>
      `${count} ${count === 1 ? 'hold keeps' : 'holds keep'} back ${affected} ${affected === 1 ? 'item' : 'items'}.`,
  },
  create: 'New hold',
  ended: 'Show holds that have ended',
  columns: {
    scope: 'What',
    value: 'Target',
    reason: 'Reason',
    affected: 'Kept back',
    by: 'By',
    since: 'Since',
    ends: 'Ends',
    state: 'State',
  },
  scopes: {
    instance: 'Instance',
    queue: 'Queue',
    destination: 'Destination',
    sender_domain: 'Sending domain',
    api_key: 'API key',
    webhook: 'Webhook',
  },
  states: { active: 'Active', resuming: 'Resuming', ended: 'Ended' },
  release: 'Release',
  released: (value: string) => `${value} goes on.`,
  releasing: {
    title: (value: string) => `Release ${value}`,
    about: (count: number, reason: string, by: string) =>
      `It keeps back ${count.toLocaleString('en')} ${count === 1 ? 'item' : 'items'}. ${by} held it: ${reason}`,
    how: 'How it goes on',
    ways: { ramp: 'With a ramp', at_once: 'All at once' },
    rate: 'Items a minute',
    rateAbout: 'What is kept back goes on at this rate; what comes new is not slowed.',
    submit: 'Release',
    conflict: (name: string) => `${name} released it before you, at`,
    unchanged: 'Nothing else was changed, and its rate is the one that was chosen then.',
    close: 'Close',
    ramped: (value: string, rate: number) => `${value} goes on with ${rate.toLocaleString('en')} a minute.`,
  },
  atOnce: 'Lift the rate',
  rate: (rate: number) => `${rate.toLocaleString('en')} a minute`,
  endless: 'when released',
  newRows: (count: number) => `${count} new`,
  empty: {
    title: 'Hold what should wait',
    about:
      'Where a destination refuses mail or a program sends too much, hold it: nothing is lost, no retry is spent, and a release lets it go on at the rate you choose.',
  },
  creating: {
    title: 'New hold',
    titleOf: (value: string) => `Hold ${value}`,
    queueAbout: 'Workers stop taking its jobs within two seconds. Nothing is lost, and no retry is spent.',
    mailAbout: (everyone: boolean) =>
      `Its mail stays where it is and spends no retry, until the hold is released or ends.${everyone ? ' A hold on a destination is for all workspaces.' : ''}`,
    scope: 'What to hold',
    value: 'Target',
    values: {
      instance: 'all: no mail and no webhook of any workspace goes out until you release it.',
      queue: 'The name of a queue, such as delivery.attempt.',
      destination: 'The domain of recipients, such as example.net; it is held for all workspaces.',
      sender_domain: 'A sending domain, such as example.com.',
      api_key: 'The id of a key, key_…',
      webhook: 'The id of a webhook, whk_…',
    },
    reasonAbout: 'Shown beside everything that waits because of it, and kept in the audit log.',
    hours: 'Expires after (hours)',
    hoursAbout: 'Up to 720, which are 30 days.',
    endless: 'Empty: it stays until it is released.',
    rate: 'Release rate (per minute)',
    rateAbout: 'How fast the kept mail goes on. Empty: all at once.',
    submit: 'Hold',
    done: (value: string) => `${value} is held.`,
  },
};

/** What is held, as a person calls it. */
export function targetOf({ scope, value }: Pick<Hold, 'scope' | 'value'>): string {
  return scope === 'instance' ? 'The whole instance' : value;
}
