export const words = {
  title: 'Alerts',
  answer: {
    none: 'No alert destination yet. Add an email address or a webhook.',
    some: (to: string) => `Alerts are sent to ${to}.`,
  },
  form: 'Notifications',
  emails: 'Email addresses',
  emailsAbout:
    'Separated by commas. You get an email when an alert starts, once a day while it’s active, and when it’s resolved.',
  webhook: 'Webhook',
  webhookAbout: 'Works even when no worker is running. Leave empty for none.',
  format: 'Format',
  formats: {
    json: { name: 'JSON (signed)', about: 'Follows Standard Webhooks, like email webhooks.' },
    slack: { name: 'Slack', about: 'Works with Slack, Mattermost and Discord URLs that end in /slack. Not signed.' },
  },
  from: 'Sender',
  fromAbout: 'Default: alerts@ followed by your first verified domain.',
  quietFrom: 'Quiet hours: from',
  quietUntil: 'Quiet hours: to',
  quietAbout: 'Times are in UTC. Alerts are held during quiet hours. Leave both empty to get them immediately.',
  secret: {
    title: 'Signing secret',
    signed: (last4: string) => `Ends in ${last4}.`,
    unsigned: 'Webhook requests are unsigned until you create a secret.',
    create: 'Create secret',
    rotate: 'Rotate secret',
    creating: {
      title: 'Create signing secret?',
      about: 'Signs every alert from now on, so your endpoint can verify that it comes from Postrider.',
      submit: 'Create secret',
    },
    rotating: {
      title: 'Rotate signing secret?',
      about: 'Creates a new secret. For 24 hours, alerts are signed with both secrets.',
      submit: 'Rotate secret',
    },
  },
  test: {
    title: 'Test alert',
    send: 'Send test alert',
    about: 'Goes to the saved destinations immediately, even during quiet hours. At most 5 per hour.',
    none: 'Save a destination first.',
    done: (count: number) =>
      count === 1 ? 'Test alert sent to 1 destination' : `Test alert sent to ${count} destinations`,
    some: (failed: number, all: number) => `Test alert failed for ${failed} of ${all} destinations`,
  },
  rules: {
    title: 'Alert rules',
    columns: { title: 'Rule', condition: 'Condition', access: 'Scope', state: 'Status' },
    scopes: { workspace: 'Workspace', instance: 'Instance' },
    active: (count: number) => (count === 1 ? 'Active' : `${count} active`),
    inactive: 'Not active',
  },
  save: 'Save settings',
  saved: 'Alert settings saved',
  list: {
    title: 'Active and recent alerts',
    ended: 'Show resolved alerts',
    undelivered: 'A notification was not delivered.',
    columns: { state: 'Status', title: 'Alert', detail: 'Details', since: 'Since', known: 'Acknowledged by' },
    active: 'Active',
    over: 'Resolved',
    acknowledge: 'Acknowledge',
    acknowledged: 'Acknowledged. You’ll be notified when it’s resolved.',
    fresh: (count: number) => `${count} new`,
    empty: {
      workspace: [
        'No active alerts.',
        'Alerts appear here when email is delayed, a domain loses a DNS record, a webhook fails, or a quota runs out.',
      ],
      instance: [
        'No active instance alerts.',
        'Alerts about workers, queues, the database and the disk appear here. Those of a workspace are under its Settings.',
      ],
    },
  },
};
