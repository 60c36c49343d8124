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
  from: 'From',
  fromAbout: 'Default: alarms@ followed by your first verified domain.',
  quiet: 'Quiet hours (UTC)',
  quietFrom: 'From',
  quietUntil: 'To',
  quietAbout: 'Alerts are held during quiet hours. Leave both empty to get them immediately.',
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
      title: 'No active alerts',
      about:
        'Alerts appear here when email is delayed, a domain loses a DNS record, a webhook fails, or a quota runs out.',
    },
  },
};
