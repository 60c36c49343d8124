import { CircleAlert, CircleCheck, CircleDashed, CircleX, type LucideIcon, ShieldX } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import type { Tone } from '../../parts/badge.tsx';
import { words } from './strings.ts';

export type Domain = Outputs['domains']['get'];
export type DnsRecord = Domain['dns_records'][number];

interface StatusView {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly word: string;
  readonly about: string;
}

function statusText(name: Domain['status']): Pick<StatusView, 'word' | 'about'> {
  const [word, description] = words.statuses[name];
  return { word, about: description };
}

export const domainStates: Readonly<Record<Domain['status'], StatusView>> = {
  pending: { tone: 'wait', icon: CircleDashed, ...statusText('pending') },
  verified: { tone: 'good', icon: CircleCheck, ...statusText('verified') },
  at_risk: {
    tone: 'wait',
    icon: CircleAlert,
    ...statusText('at_risk'),
  },
  failed: { tone: 'bad', icon: CircleX, ...statusText('failed') },
  suspended: { tone: 'bad', icon: ShieldX, ...statusText('suspended') },
};

export const recordStates: Readonly<Record<DnsRecord['status'], Omit<StatusView, 'about'>>> = {
  pending: { tone: 'calm', icon: CircleDashed, word: words.recordStatuses.pending },
  ok: { tone: 'good', icon: CircleCheck, word: words.recordStatuses.ok },
  missing: { tone: 'wait', icon: CircleDashed, word: words.recordStatuses.missing },
  mismatch: { tone: 'bad', icon: CircleX, word: words.recordStatuses.mismatch },
  truncated: { tone: 'bad', icon: CircleX, word: words.recordStatuses.truncated },
  multiple: { tone: 'bad', icon: CircleX, word: words.recordStatuses.multiple },
  lookup_error: { tone: 'wait', icon: CircleAlert, word: words.recordStatuses.lookup_error },
};

/** Returns the records that must change before the domain can send. */
export function failing({ dns_records }: Pick<Domain, 'dns_records'>): readonly DnsRecord[] {
  return dns_records.filter(({ required, status }) => required && status !== 'ok');
}
