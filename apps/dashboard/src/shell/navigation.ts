import {
  Ban,
  BellRing,
  Boxes,
  Building,
  Building2,
  CalendarClock,
  ChartLine,
  CirclePause,
  Cpu,
  Eraser,
  Globe,
  Grid3x3,
  HardDrive,
  HeartPulse,
  Inbox,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  Mail,
  PenLine,
  ScrollText,
  Siren,
  SquareX,
  UserCog,
  Users,
  Webhook,
} from 'lucide-react';
import type { Scope } from '../api/me.ts';

export interface Place {
  readonly to: string;
  readonly word: string;
  readonly icon: LucideIcon;
  readonly group: 'mail' | 'settings' | 'instance';
  /** The key that opens it after g. */
  readonly key?: string;
  /** Hides the entry from users without this scope; for pages that they never need. */
  readonly only?: Scope;
}

export const groupWords: Readonly<Record<Place['group'], string>> = {
  mail: 'Mail',
  settings: 'Settings',
  instance: 'Operations',
};

/** The navigation, in order. */
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
  { to: '/settings/workspace', word: 'Workspace', icon: Building2, group: 'settings', key: 'y' },
  { to: '/settings/members', word: 'Members', icon: Users, group: 'settings', key: 'm', only: 'admin' },
  { to: '/settings/alarms', word: 'Alarms', icon: BellRing, group: 'settings', key: 'l', only: 'admin' },
  { to: '/settings/audit', word: 'Audit log', icon: ScrollText, group: 'settings', key: 'a', only: 'admin' },
  { to: '/settings/erasures', word: 'Erasures', icon: Eraser, group: 'settings', key: 'z', only: 'admin' },
  { to: '/operations/health', word: 'Health', icon: HeartPulse, group: 'instance', key: 't', only: 'admin' },
  { to: '/operations/incident', word: 'Incident', icon: Siren, group: 'instance', key: 'f', only: 'admin' },
  { to: '/operations/backlog', word: 'Backlog', icon: Grid3x3, group: 'instance', key: 'u', only: 'admin' },
  { to: '/operations/queues', word: 'Queues', icon: ListOrdered, group: 'instance', key: 'q', only: 'operator' },
  { to: '/operations/jobs', word: 'Jobs', icon: Boxes, group: 'instance', key: 'j', only: 'operator' },
  { to: '/operations/bulk', word: 'Bulk runs', icon: ListChecks, group: 'instance', key: 'v', only: 'admin' },
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
  { to: '/operations/storage', word: 'Storage', icon: HardDrive, group: 'instance', key: 'x', only: 'operator' },
  { to: '/operations/workspaces', word: 'Workspaces', icon: Building, group: 'instance', only: 'operator' },
  { to: '/operations/operators', word: 'Operators', icon: UserCog, group: 'instance', only: 'operator' },
];
