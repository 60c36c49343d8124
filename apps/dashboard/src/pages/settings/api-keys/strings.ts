import type { Scope } from '../../../api/me.ts';

export const words = {
  title: 'API keys',
  create: 'New API key',
  answer: {
    none: 'No active API keys. You need one to send email.',
    some: (active: number, unused: number) =>
      `${active} active ${active === 1 ? 'key' : 'keys'}${unused > 0 ? `, ${unused} never used` : ''}`,
  },
  columns: {
    name: 'Name',
    key: 'Key',
    scopes: 'Scopes',
    domains: 'Allowed domains',
    used: 'Last used',
    created: 'Created',
    state: 'Status',
  },
  anyDomain: 'Any domain',
  never: 'Never',
  sandbox: 'Sandbox',
  sandboxAbout: 'Email sent with a sandbox key goes to the test inbox and doesn’t count toward your quota.',
  states: { active: 'Active', revoked: 'Revoked', expired: 'Expired', replaced: 'Replaced' },
  replacedAbout: 'Replaced by a newer key. It still works until it expires.',
  showGone: 'Show revoked and expired keys',
  rotate: 'Rotate',
  revoke: 'Revoke',
  actions: (name: string) => `Actions for ${name}`,
  newRows: (count: number) => `${count} new`,
  empty: {
    title: 'Create your first API key',
    about:
      'Create a separate key for each application, with only the permissions it needs. If a key leaks, you can revoke it without affecting your other applications.',
  },
  dialog: {
    title: 'New API key',
    name: 'Name',
    nameAbout: 'Where you’ll use this key, such as Shop or Billing.',
    preset: 'Permissions',
    presets: { send: 'Sending only', read: 'Read logs', integrate: 'All except API keys', admin: 'Full access' },
    scopes: 'Scopes',
    mode: 'Mode',
    modeAbout: 'Sandbox keys are for testing. Their email goes to the test inbox and doesn’t count toward your quota.',
    modes: { live: 'Live', sandbox: 'Sandbox' },
    domains: 'Allowed domains',
    domainsAbout: 'Separated by commas. Leave empty to allow any verified domain.',
    noScope: 'Select at least one scope.',
    noName: 'Enter a name.',
    submit: 'Create API key',
  },
  secret: {
    title: (name: string) => `API key “${name}”`,
    once: 'Copy this key now. You won’t be able to see it again.',
    key: 'API key',
    env: 'For .env',
    curl: 'Try it',
    stored: 'I’ve stored this key',
    guard: 'Store the key and check the box first. You won’t be able to see it again.',
    done: 'Done',
    overlap: (until: string) => `The old key works until ${until}.`,
  },
  rotating: {
    title: (name: string) => `Rotate ${name}?`,
    about:
      'Creates a new key with the same scopes. The old key works for another 24 hours, so you can switch over without downtime.',
    submit: 'Rotate API key',
  },
  revoking: {
    title: (name: string) => `Revoke ${name}?`,
    about: 'This key stops working immediately. This cannot be undone.',
    used: 'Last used',
    unused: 'Never used.',
    keep: 'Keep API key',
    submit: 'Revoke API key',
    done: (name: string) => `${name} revoked`,
  },
};

/** The wording of docs/interface.md for the five integrator scopes. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  'email:send': 'Send transactional emails',
  'email:logs:read': 'Read email delivery logs',
  'domains:read': 'List and view domains',
  'domains:write': 'Add and verify domains',
  'webhooks:manage': 'Create and delete webhooks',
  admin: 'Full access to this workspace, including API keys',
  operator: 'Full access to the instance: queues, holds and all workspaces',
};

export const presets: Readonly<Record<keyof typeof words.dialog.presets, readonly Scope[]>> = {
  send: ['email:send'],
  read: ['email:logs:read'],
  integrate: ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage'],
  admin: ['admin'],
};
