import {
  Ban,
  CalendarClock,
  ChartLine,
  CirclePause,
  Cpu,
  Globe,
  Inbox,
  KeyRound,
  LayoutDashboard,
  ListOrdered,
  type LucideIcon,
  Mail,
  PenLine,
  ScrollText,
  SquareX,
  Webhook,
} from 'lucide-react';
import type { Scope } from '../api/me.ts';

export interface Place {
  readonly to: string;
  readonly word: string;
  readonly icon: LucideIcon;
  readonly group: 'mail' | 'settings' | 'instance';
  /** The key after g that leads there. */
  readonly key?: string;
  /** Left out of the navigation without it; only what a whole group of people never needs. */
  readonly only?: Scope;
}

export const groupWords: Readonly<Record<Place['group'], string>> = {
  mail: 'Mail',
  settings: 'Settings',
  instance: 'Operations',
};

/** The navigation, in its order. */
export const places: readonly Place[] = [
  { to: '/', word: 'Overview', icon: LayoutDashboard, group: 'mail', key: 'o' },
  { to: '/emails', word: 'Emails', icon: Mail, group: 'mail', key: 'e' },
  { to: '/inbox', word: 'Test inbox', icon: Inbox, group: 'mail', key: 'i' },
  { to: '/compose', word: 'Compose', icon: PenLine, group: 'mail', key: 'n' },
  { to: '/domains', word: 'Domains', icon: Globe, group: 'mail', key: 'd' },
  { to: '/webhooks', word: 'Webhooks', icon: Webhook, group: 'mail', key: 'b' },
  { to: '/stats', word: 'Stats', icon: ChartLine, group: 'mail', key: 's' },
  { to: '/requests', word: 'Requests', icon: SquareX, group: 'mail', key: 'r', only: 'admin' },
  { to: '/suppressions', word: 'Suppressions', icon: Ban, group: 'mail', key: 'p' },
  { to: '/settings/api-keys', word: 'API Keys', icon: KeyRound, group: 'settings', key: 'k' },
  { to: '/settings/audit', word: 'Audit log', icon: ScrollText, group: 'settings', key: 'a', only: 'admin' },
  { to: '/operations/queues', word: 'Queues', icon: ListOrdered, group: 'instance', key: 'q', only: 'operator' },
  { to: '/operations/holds', word: 'Holds', icon: CirclePause, group: 'instance', key: 'h', only: 'admin' },
  { to: '/operations/workers', word: 'Workers', icon: Cpu, group: 'instance', key: 'w', only: 'operator' },
  {
    to: '/operations/schedules',
    word: 'Schedules',
    icon: CalendarClock,
    group: 'instance',
    key: 'c',
    only: 'operator',
  },
];
