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

export type MailStatus = Outputs['emails']['list']['data'][number]['status'];

interface Shown {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly word: string;
  readonly about: string;
}

/** The meaning of each state, in one sentence. */
export const mailStates: Readonly<Record<MailStatus, Shown>> = {
  scheduled: { tone: 'info', icon: CalendarClock, word: 'Scheduled', about: 'It waits for the time it was given.' },
  queued: { tone: 'info', icon: Clock, word: 'Queued', about: 'It was accepted and waits for its first attempt.' },
  sending: { tone: 'info', icon: Send, word: 'Sending', about: 'An attempt is running.' },
  deferred: {
    tone: 'wait',
    icon: Undo2,
    word: 'Deferred',
    about: 'The receiving server asked to come back later; it is tried again by itself.',
  },
  delivered: {
    tone: 'good',
    icon: CircleCheck,
    word: 'Delivered',
    about: 'The next hop answered 250. It does not say that the mail was read, or in which folder it is.',
  },
  bounced: { tone: 'bad', icon: CircleX, word: 'Bounced', about: 'The receiving server refused it for good.' },
  failed: {
    tone: 'bad',
    icon: CircleSlash,
    word: 'Failed',
    about: 'It was given up: too old, or the attempt was lost.',
  },
  complained: { tone: 'bad', icon: Flag, word: 'Complained', about: 'The reader reported it as spam.' },
  suppressed: {
    tone: 'calm',
    icon: ShieldOff,
    word: 'Suppressed',
    about: 'The address is on the suppression list, so nothing was sent to it.',
  },
  canceled: { tone: 'calm', icon: Ban, word: 'Canceled', about: 'It was canceled before it was sent.' },
};

const captured: Shown = {
  tone: 'info',
  icon: Inbox,
  word: 'Captured',
  about: 'It ended in the test inbox; its recipient does not have it.',
};

/** What a server that only captures answers. */
const CAPTURED = ' 2.6.0 captured';

export function isCaptured(reply: string | null): boolean {
  return reply?.endsWith(CAPTURED) ?? false;
}

export function MailBadge({
  status,
  reply = null,
}: {
  readonly status: MailStatus;
  /** The last reply, where it is known. */
  readonly reply?: string | null;
}) {
  const { tone, icon, word, about } = status === 'delivered' && isCaptured(reply) ? captured : mailStates[status];
  return (
    <Badge tone={tone} icon={icon} title={about}>
      {word}
    </Badge>
  );
}

const open: ReadonlySet<MailStatus> = new Set(['scheduled', 'queued', 'sending', 'deferred']);

/** Whether it may still change by itself. */
export function isOpen(status: MailStatus): boolean {
  return open.has(status);
}
