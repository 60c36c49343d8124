import type { DnsRecord } from './domain.ts';

export const words = {
  title: 'Domains',
  add: 'Add a domain',
  answer: {
    none: 'Until a domain is verified, mail goes from the sandbox only.',
    all: (count: number) => (count === 1 ? 'The domain can send.' : `All ${count} domains can send.`),
    some: (bad: number) => `${bad} ${bad === 1 ? 'domain needs' : 'domains need'} you.`,
  },
  columns: { name: 'Domain', state: 'State', wrong: 'To do', checked: 'Checked', next: 'Next check' },
  wrong: (count: number) => `${count} ${count === 1 ? 'record' : 'records'}`,
  nothing: 'nothing',
  never: 'never',
  sandbox: 'sandbox',
  fresh: (count: number) => `${count} new`,
  empty: {
    title: 'Send from your own domain',
    about:
      'Add the domain, publish the records that are shown, and it turns green by itself: the records are looked up again every few seconds while the page is open, and every few minutes while it is not.',
  },
  dialog: {
    title: 'Add a domain',
    name: 'Domain',
    about: 'The part after the @ of your senders, such as example.com or mail.example.com.',
    submit: 'Add the domain',
  },
  detail: {
    back: 'Domains',
    verify: 'Check now',
    verifying: 'Looking',
    copyAll: 'Copy all as zone file',
    download: 'Zone file',
    records: 'Records',
    live: 'Looking every 10 s while this page is open',
    checked: 'Checked',
    next: 'next check',
    can: (name: string) => `Programs can send from any address of ${name}.`,
    fresh: (count: number, all: number) =>
      all > count
        ? `Publish the ${all} records below at your DNS provider, then check; ${count} of them ${count === 1 ? 'is' : 'are'} required.`
        : `Publish ${count === 1 ? 'the record' : `the ${count} records`} below at your DNS provider, then check.`,
    todo: (count: number) =>
      `${count} ${count === 1 ? 'record is' : 'records are'} missing or wrong; publish ${count === 1 ? 'it' : 'them'} at your DNS provider.`,
    sandbox: 'This is the sandbox: it needs no records, and its mail never leaves this machine.',
    purpose: {
      ownership: ['Ownership', 'Proves that the domain is yours.'],
      dkim: ['DKIM', 'Signs each mail, so that it cannot be changed on its way.'],
      return_path: ['Return path', 'Brings bounces back, and lets SPF pass.'],
      spf: ['SPF', 'Says which servers may send for the domain.'],
      dmarc: ['DMARC', 'Says what receivers do with mail that is not signed by you.'],
    } satisfies Record<DnsRecord['purpose'], readonly [string, string]>,
    required: 'Required',
    recommended: 'Recommended',
    type: 'Type',
    host: 'Host',
    fqdn: 'Full name',
    value: 'Value',
    ttl: 'TTL',
    observed: 'What name servers answer',
    authoritative: 'authoritative',
    cache: 'cache',
    nothing: 'nothing',
    expected: 'Expected',
  },
  second: {
    title: 'Second signature',
    on: 'Mail gets a signature of Ed25519 beside that of RSA, once its record has been seen.',
    off: 'Mail is signed with RSA, which every receiver checks. Ed25519 can be added, with a record of its own.',
    turnOn: 'Turn on Ed25519',
    turnOff: 'Turn off Ed25519',
  },
  actions: {
    menu: 'More actions',
    remove: 'Remove domain',
    rotate: {
      title: (name: string) => `Rotate the DKIM keys of ${name}?`,
      about:
        'New keys are created under another selector. Publish their records; they sign once the records have been visible for a day. The current keys sign until then.',
      keep: 'Keep current keys',
      submit: 'Rotate DKIM keys',
      done: 'DKIM keys rotated',
    },
    suspend: {
      title: (name: string) => `Suspend ${name}?`,
      about:
        'New email from this domain is rejected, and queued email is not sent until an operator resumes the domain.',
      reason: 'Shown to the workspace and in the audit log.',
      keep: 'Keep sending',
      submit: 'Suspend domain',
      done: 'Domain suspended',
    },
    resume: {
      title: (name: string) => `Resume ${name}?`,
      about: 'Its records are checked within a minute. It can send as soon as they are verified.',
      keep: 'Keep suspended',
      submit: 'Resume domain',
      done: 'Domain resumed',
    },
  },
  removing: {
    title: (name: string) => `Remove ${name}`,
    about: 'Its keys are deleted and its mail that is not sent yet is canceled. Adding it again makes other records.',
    keep: 'Keep domain',
    submit: 'Remove the domain',
    done: (name: string) => `${name} is removed.`,
  },
};
