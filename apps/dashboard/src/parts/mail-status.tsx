import {
  Ban,
  CalendarClock,
  CircleCheck,
  CircleSlash,
  CircleX,
  Clock,
  Flag,
  Inbox,
  type LucideIcon,
  Send,
  ShieldOff,
  Undo2,
} from 'lucide-react';
import type { Outputs } from '../api/trpc.ts';
import { Badge, type Tone } from './badge.tsx';
import { words } from './strings.ts';

export type MailStatus = Outputs['emails']['list']['data'][number]['status'];

interface StatusView {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly word: string;
  readonly about: string;
}

function statusText(name: keyof typeof words.statuses): Pick<StatusView, 'word' | 'about'> {
  const [word, description] = words.statuses[name];
  return { word, about: description };
}

/** A one-sentence explanation of each state. */
export const mailStates: Readonly<Record<MailStatus, StatusView>> = {
  scheduled: { tone: 'info', icon: CalendarClock, ...statusText('scheduled') },
  queued: { tone: 'info', icon: Clock, ...statusText('queued') },
  sending: { tone: 'info', icon: Send, ...statusText('sending') },
  deferred: {
    tone: 'wait',
    icon: Undo2,
    ...statusText('deferred'),
  },
  delivered: {
    tone: 'good',
    icon: CircleCheck,
    ...statusText('delivered'),
  },
  bounced: { tone: 'bad', icon: CircleX, ...statusText('bounced') },
  failed: {
    tone: 'bad',
    icon: CircleSlash,
    ...statusText('failed'),
  },
  complained: { tone: 'bad', icon: Flag, ...statusText('complained') },
  suppressed: {
    tone: 'calm',
    icon: ShieldOff,
    ...statusText('suppressed'),
  },
  canceled: { tone: 'calm', icon: Ban, ...statusText('canceled') },
};

const captured: StatusView = {
  tone: 'info',
  icon: Inbox,
  ...statusText('captured'),
};

export function MailBadge({
  status,
  captured: is_captured,
}: {
  readonly status: MailStatus;
  readonly captured: boolean;
}) {
  const {
    tone,
    icon,
    word,
    about: description,
  } = status === 'delivered' && is_captured ? captured : mailStates[status];
  return (
    <Badge tone={tone} icon={icon} title={description}>
      {word}
    </Badge>
  );
}

const open: ReadonlySet<MailStatus> = new Set(['scheduled', 'queued', 'sending', 'deferred']);

/** Returns whether the status may still change without user action. */
export function isOpen(status: MailStatus): boolean {
  return open.has(status);
}
