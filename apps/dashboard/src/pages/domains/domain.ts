import { CircleAlert, CircleCheck, CircleDashed, CircleX, type LucideIcon, ShieldX } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import type { Tone } from '../../parts/badge.tsx';

export type Domain = Outputs['domains']['get'];
export type DnsRecord = Domain['dns_records'][number];

/** The dialogs of a domain's page, by their name in the URL. */
export const domainDialogs = ['remove', 'rotate', 'suspend', 'resume'] as const;
export type DomainDialog = (typeof domainDialogs)[number];

interface Shown {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly word: string;
  readonly about: string;
}

export const domainStates: Readonly<Record<Domain['status'], Shown>> = {
  pending: { tone: 'wait', icon: CircleDashed, word: 'Pending', about: 'Its records are not all seen yet.' },
  verified: { tone: 'good', icon: CircleCheck, word: 'Verified', about: 'Its records are right and it may send.' },
  at_risk: {
    tone: 'wait',
    icon: CircleAlert,
    word: 'At risk',
    about: 'A record that was right is wrong now. It still sends, for three days at most.',
  },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', about: 'Its records were wrong for too long; it cannot send.' },
  suspended: { tone: 'bad', icon: ShieldX, word: 'Suspended', about: 'An operator has stopped it.' },
};

export const recordStates: Readonly<Record<DnsRecord['status'], Omit<Shown, 'about'>>> = {
  pending: { tone: 'calm', icon: CircleDashed, word: 'Not checked yet' },
  ok: { tone: 'good', icon: CircleCheck, word: 'Right' },
  missing: { tone: 'wait', icon: CircleDashed, word: 'Missing' },
  mismatch: { tone: 'bad', icon: CircleX, word: 'Wrong value' },
  truncated: { tone: 'bad', icon: CircleX, word: 'Cut off' },
  multiple: { tone: 'bad', icon: CircleX, word: 'More than one' },
  lookup_error: { tone: 'wait', icon: CircleAlert, word: 'Lookup failed' },
};

/** The records that must change before the domain can send. */
export function failing({ dns_records }: Pick<Domain, 'dns_records'>): readonly DnsRecord[] {
  return dns_records.filter(({ required, status }) => required && status !== 'ok');
}
