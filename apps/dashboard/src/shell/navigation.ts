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
import { words } from './strings.ts';

export interface Place {
  readonly to: string;
  readonly word: string;
  readonly icon: LucideIcon;
  readonly group: 'mail' | 'settings' | 'instance';
  /** The key that opens the page after pressing g. */
  readonly key?: string;
  /** Hides the entry from users without this scope, for pages they never need. */
  readonly only?: Scope;
}

export const groupWords: Readonly<Record<Place['group'], string>> = {
  mail: words.groups.mail,
  settings: words.groups.settings,
  instance: words.groups.instance,
};

/** The navigation, in order. */
export const places: readonly Place[] = [
  { to: '/', word: words.places.overview, icon: LayoutDashboard, group: 'mail', key: 'o' },
  { to: '/emails', word: words.places.emails, icon: Mail, group: 'mail', key: 'e' },
  { to: '/inbox', word: words.places.inbox, icon: Inbox, group: 'mail', key: 'i' },
  { to: '/compose', word: words.places.compose, icon: PenLine, group: 'mail', key: 'n' },
  { to: '/domains', word: words.places.domains, icon: Globe, group: 'mail', key: 'd' },
  { to: '/webhooks', word: words.places.webhooks, icon: Webhook, group: 'mail', key: 'b' },
  { to: '/stats', word: words.places.stats, icon: ChartLine, group: 'mail', key: 's' },
  { to: '/requests', word: words.places.requests, icon: SquareX, group: 'mail', key: 'r', only: 'admin' },
  { to: '/suppressions', word: words.places.suppressions, icon: Ban, group: 'mail', key: 'p' },
  { to: '/settings/api-keys', word: words.places.apiKeys, icon: KeyRound, group: 'settings', key: 'k' },
  { to: '/settings/workspace', word: words.places.workspace, icon: Building2, group: 'settings', key: 'y' },
  { to: '/settings/members', word: words.places.members, icon: Users, group: 'settings', key: 'm', only: 'admin' },
  { to: '/settings/alarms', word: words.places.alarms, icon: BellRing, group: 'settings', key: 'l', only: 'admin' },
  { to: '/settings/audit', word: words.places.audit, icon: ScrollText, group: 'settings', key: 'a', only: 'admin' },
  { to: '/settings/erasures', word: words.places.erasures, icon: Eraser, group: 'settings', key: 'z', only: 'admin' },
  { to: '/operations/health', word: words.places.health, icon: HeartPulse, group: 'instance', key: 't', only: 'admin' },
  { to: '/operations/incident', word: words.places.incident, icon: Siren, group: 'instance', key: 'f', only: 'admin' },
  { to: '/operations/backlog', word: words.places.backlog, icon: Grid3x3, group: 'instance', key: 'u', only: 'admin' },
  {
    to: '/operations/queues',
    word: words.places.queues,
    icon: ListOrdered,
    group: 'instance',
    key: 'q',
    only: 'operator',
  },
  { to: '/operations/jobs', word: words.places.jobs, icon: Boxes, group: 'instance', key: 'j', only: 'operator' },
  { to: '/operations/bulk', word: words.places.bulk, icon: ListChecks, group: 'instance', key: 'v', only: 'admin' },
  { to: '/operations/holds', word: words.places.holds, icon: CirclePause, group: 'instance', key: 'h', only: 'admin' },
  { to: '/operations/workers', word: words.places.workers, icon: Cpu, group: 'instance', key: 'w', only: 'operator' },
  {
    to: '/operations/schedules',
    word: words.places.schedules,
    icon: CalendarClock,
    group: 'instance',
    key: 'c',
    only: 'operator',
  },
  {
    to: '/operations/storage',
    word: words.places.storage,
    icon: HardDrive,
    group: 'instance',
    key: 'x',
    only: 'operator',
  },
  { to: '/operations/workspaces', word: words.places.workspaces, icon: Building, group: 'instance', only: 'operator' },
  { to: '/operations/operators', word: words.places.operators, icon: UserCog, group: 'instance', only: 'operator' },
];
