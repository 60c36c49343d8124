export const words = {
  title: 'Workspaces',
  answer: (count: number, more: boolean) =>
    `${count}${more ? ' or more' : ''} ${count === 1 ? 'workspace' : 'workspaces'} on this instance.`,
  create: 'New workspace',
  columns: { name: 'Workspace', plan: 'Plan', monthly: 'Mails per month', id: 'Id', since: 'Made' },
  unlimited: 'no limit',
  actions: (name: string) => `Actions for ${name}`,
  setPlan: (plan: string) => `Put on the plan ${plan}`,
  planSet: (name: string, plan: string) => `${name} is on the plan ${plan}, from its next request on.`,
  fresh: (count: number) => `${count} new`,
  creating: { title: 'New workspace', name: 'Name', plan: 'Plan', submit: 'Make the workspace', cancel: 'Cancel' },
  secret: {
    title: (name: string) => `The first key of ${name}`,
    once: 'This key administers the workspace, and is shown only here.',
    stored: 'I have stored the key',
    guard: 'Store the key first: it is shown only here.',
    done: 'Done',
  },
  plans: {
    title: 'Plans',
    columns: {
      name: 'Plan',
      monthly: 'Mails per month',
      recipients: 'Recipients of a mail',
      send: 'Sends/min',
      logs: 'Log reads/min',
      other: 'Other/min',
    },
  },
};
