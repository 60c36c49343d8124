import type { Scope } from '../../../api/me.ts';

export const words = {
  title: 'API Keys',
  create: 'New API Key',
  answer: {
    none: 'No key is active, so nothing can send.',
    some: (active: number, unused: number) =>
      `${active} ${active === 1 ? 'key is' : 'keys are'} active${unused > 0 ? `; ${unused} ${unused === 1 ? 'was' : 'were'} never used` : ''}.`,
  },
  columns: {
    name: 'Name',
    key: 'Key',
    scopes: 'Scopes',
    domains: 'Sends from',
    used: 'Last used',
    created: 'Created',
    state: 'State',
  },
  anyDomain: 'any domain',
  never: 'never',
  sandbox: 'Sandbox',
  sandboxAbout: 'Mail of a sandbox key ends in the test inbox and costs no quota.',
  states: { active: 'Active', revoked: 'Revoked', expired: 'Expired', replaced: 'Replaced' },
  replacedAbout: 'A newer key has replaced it; it still works until it expires.',
  showGone: 'Show revoked and expired keys',
  rotate: 'Rotate',
  revoke: 'Revoke',
  actions: (name: string) => `Actions for ${name}`,
  newRows: (count: number) => `${count} new`,
  empty: {
    title: 'Give each program its own key',
    about:
      'A key proves who sends. Give every program a key that may do only what that program does: if one leaks, you revoke that one, and nothing else stops.',
  },
  dialog: {
    title: 'New API Key',
    name: 'Name',
    nameAbout: 'Where the key will be used, such as Shop or Billing.',
    preset: 'What it is for',
    presets: { send: 'Sending', read: 'Reading logs', integrate: 'Everything but keys', admin: 'Administration' },
    scopes: 'Scopes',
    mode: 'Mode',
    modeAbout: 'A sandbox key is for tests: its mail ends in the test inbox and costs no quota.',
    modes: { live: 'Live', sandbox: 'Sandbox' },
    domains: 'Sends from',
    domainsAbout: 'Domains, separated by commas. Empty: any verified domain.',
    noScope: 'Choose at least one scope.',
    noName: 'Give the key a name.',
    submit: 'Create the key',
  },
  secret: {
    title: (name: string) => `Key of ${name}`,
    once: 'This is the only time the key is shown. It cannot be recovered.',
    key: 'API key',
    env: 'For .env',
    curl: 'Try it',
    stored: 'I have stored the key',
    guard: 'Store the key first and tick the box: it is shown only this once.',
    done: 'Done',
    overlap: (until: string) => `The old key keeps working until ${until}.`,
  },
  rotating: {
    title: (name: string) => `Rotate ${name}`,
    about:
      'Makes a key with another secret and the same scopes. The old one keeps working for 24 hours, so that programs can change over one by one.',
    submit: 'Rotate the key',
  },
  revoking: {
    title: (name: string) => `Revoke ${name}`,
    about: 'Requests with this key are refused from the next one on. This cannot be undone.',
    used: 'Last used',
    unused: 'It has never been used.',
    keep: 'Keep API key',
    submit: 'Revoke the key',
    done: (name: string) => `${name} is revoked.`,
  },
};

/** The words of docs/interface.md for the five scopes of integrators. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  'email:send': 'Send transactional emails',
  'email:logs:read': 'Read email delivery logs',
  'domains:read': 'List and view domains',
  'domains:write': 'Add and verify domains',
  'webhooks:manage': 'Create and delete webhooks',
  admin: 'Everything in this workspace, API keys included',
  operator: 'The whole instance: queues, holds and every workspace',
};

export const presets: Readonly<Record<keyof typeof words.dialog.presets, readonly Scope[]>> = {
  send: ['email:send'],
  read: ['email:logs:read'],
  integrate: ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage'],
  admin: ['admin'],
};
