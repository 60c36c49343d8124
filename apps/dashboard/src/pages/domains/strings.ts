import type { Outputs } from '../../api/trpc.ts';

type Status = Outputs['domains']['get']['status'];
type Purpose = Outputs['domains']['get']['dns_records'][number]['purpose'];

export const words = {
  title: 'Domains',
  add: 'Add domain',
  answer: {
    none: 'Until you verify a domain, you can only send from the sandbox.',
    all: (count: number) => (count === 1 ? '1 domain, verified' : `${count} domains, all verified`),
    pending: (count: number) => `${count} ${count === 1 ? 'domain is' : 'domains are'} waiting for DNS records`,
    some: (bad: number) => `${bad} ${bad === 1 ? 'domain needs' : 'domains need'} attention`,
  },
  statuses: {
    pending: ['Pending', 'Waiting for its DNS records.'],
    verified: ['Verified', 'Its DNS records are correct, and it can send.'],
    at_risk: ['At risk', 'A DNS record is missing or wrong. The domain can send for up to three more days.'],
    failed: ['Failed', 'Its DNS records were wrong for too long. It cannot send.'],
    suspended: ['Suspended', 'Suspended by an operator.'],
  } satisfies Record<Status, readonly [string, string]>,
  recordStatuses: {
    pending: 'Not checked yet',
    ok: 'Verified',
    missing: 'Missing',
    mismatch: 'Wrong value',
    truncated: 'Truncated',
    multiple: 'Multiple records',
    lookup_error: 'Lookup failed',
  },
  recordText: {
    type: (name: string) => `${name} type`,
    host: (name: string) => `${name} host`,
    fqdn: (name: string) => `${name} full name`,
    value: (name: string) => `${name} value`,
    ttl: (name: string) => `${name} TTL`,
  },
  columns: { name: 'Domain', state: 'Status', wrong: 'Issues', checked: 'Last check', next: 'Next check' },
  wrong: (count: number) => `${count} ${count === 1 ? 'record' : 'records'}`,
  nothing: 'None',
  never: 'Never',
  sandbox: 'Sandbox',
  fresh: (count: number) => `${count} new`,
  empty: {
    title: 'Send from your own domain',
    about:
      'Add your domain and publish the DNS records you’re given. Postrider checks them every few seconds while the page is open and every few minutes otherwise, and verifies the domain automatically.',
  },
  dialog: {
    title: 'Add domain',
    name: 'Domain',
    about: 'The part after the @ in your sender addresses, such as example.com or mail.example.com.',
    submit: 'Add domain',
  },
  detail: {
    verify: 'Check now',
    verifying: 'Checking…',
    copyAll: 'Copy zone file',
    download: 'Download zone file',
    records: 'DNS records',
    live: 'Checked every 10 s while this page is open',
    checked: 'Last check',
    next: 'next check',
    can: (name: string) => `You can send from any address at ${name}.`,
    fresh: (count: number, all: number) =>
      all > count
        ? `Publish these ${all} records at your DNS provider (${count} required), then check.`
        : `Publish ${count === 1 ? 'this record' : `these ${count} records`} at your DNS provider, then check.`,
    todo: (count: number) =>
      `${count} ${count === 1 ? 'record is' : 'records are'} missing or incorrect. Fix ${count === 1 ? 'it' : 'them'} at your DNS provider.`,
    sandbox: 'This is the sandbox domain. It needs no DNS records, and its email never leaves this machine.',
    purpose: {
      ownership: ['Ownership', 'Proves that you own the domain.'],
      dkim: ['DKIM', 'Signs email so that receivers can detect changes.'],
      return_path: ['Return path', 'Routes bounces back to Postrider and aligns SPF.'],
      spf: ['SPF', 'Lists the servers allowed to send for this domain.'],
      dmarc: ['DMARC', 'Tells receivers what to do with unauthenticated email.'],
    } satisfies Record<Purpose, readonly [string, string]>,
    required: 'Required',
    recommended: 'Recommended',
    type: 'Type',
    host: 'Host',
    fqdn: 'Full name',
    value: 'Value',
    ttl: 'TTL',
    observed: 'Current value in DNS',
    unchecked: 'Not checked yet.',
    authoritative: 'authoritative',
    cache: 'cache',
    nothing: 'Not found',
    expected: 'Expected',
  },
  second: {
    title: 'Second signature',
    on: 'Email is signed with Ed25519 in addition to RSA once the DNS record is visible.',
    off: 'Email is signed with RSA, which every receiver supports. You can add Ed25519 with one more DNS record.',
    turnOn: 'Enable Ed25519',
    turnOff: 'Disable Ed25519',
  },
  actions: {
    menu: 'More actions',
    remove: 'Remove domain',
    rotate: {
      title: (name: string) => `Rotate the DKIM keys of ${name}?`,
      about:
        'New keys are created under a new selector. Publish their DNS records. The current keys keep signing until the new records have been visible for a day.',
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
    title: (name: string) => `Remove ${name}?`,
    about:
      'This deletes its DKIM keys and cancels unsent email from this domain. If you add it again, it gets new DNS records.',
    keep: 'Keep domain',
    submit: 'Remove domain',
    done: (name: string) => `${name} removed`,
  },
};
