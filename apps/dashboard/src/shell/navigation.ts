import {
  Ban,
  Boxes,
  Building,
  ChartLine,
  Globe,
  HardDrive,
  HeartPulse,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Mail,
  ScrollText,
  Settings,
  Siren,
  Truck,
  Webhook,
} from 'lucide-react';
import { type Me, may, type Scope } from '../api/me.ts';
import { words } from './strings.ts';

export type Space = 'workspace' | 'instance';

/** A page of the navigation. */
export interface Place {
  readonly to: string;
  /** The documentation about it, below /docs. */
  readonly docs: string;
  readonly word: string;
  /** What people also call it or come for, which the palette finds too. */
  readonly also: string;
  /** The key that opens the page after pressing g. */
  readonly key?: string;
  /** The scope without which the page is neither listed nor shown. */
  readonly needs?: Scope;
}

/** An entry of the navigation. Its pages are tabs. */
export interface Section {
  readonly space: Space;
  readonly word: string;
  readonly icon: LucideIcon;
  readonly places: readonly Place[];
}

const { places: names, also } = words;

/** A button on every page of a workspace, and a key. */
export const newEmail = { to: '/emails/new', needs: 'email:send' } as const;

/** The navigation, in order. A rule for who may see a page stands here alone. */
export const sections: readonly Section[] = [
  section('workspace', names.overview, LayoutDashboard, [
    { to: '/', docs: 'production', word: names.overview, also: also.overview, key: 'o' },
  ]),
  section('workspace', names.emails, Mail, [
    { to: '/emails', docs: 'sending#status-and-logs', word: names.sent, also: also.sent, key: 'e' },
    { to: '/emails/scheduled', docs: 'sending#scheduling', word: names.scheduled, also: also.scheduled, key: 's' },
    { to: '/emails/test-inbox', docs: 'testing', word: names.inbox, also: also.inbox, key: 't' },
  ]),
  section('workspace', names.domains, Globe, [
    { to: '/domains', docs: 'domains', word: names.domains, also: also.domains, key: 'd' },
  ]),
  section('workspace', names.webhooks, Webhook, [
    { to: '/webhooks', docs: 'webhooks', word: names.webhooks, also: also.webhooks, key: 'w' },
  ]),
  section('workspace', names.metrics, ChartLine, [
    {
      to: '/metrics',
      docs: 'admin-actions#stats-backlog-and-failures',
      word: names.metrics,
      also: also.metrics,
      key: 'm',
    },
  ]),
  section('workspace', names.logs, ScrollText, [
    { to: '/logs', docs: 'errors', word: names.logs, also: also.logs, key: 'l', needs: 'admin' },
  ]),
  section('workspace', names.suppressions, Ban, [
    {
      to: '/suppressions',
      docs: 'operations#suppressions',
      word: names.suppressions,
      also: also.suppressions,
      key: 'u',
    },
  ]),
  section('workspace', names.delivery, Truck, [
    {
      to: '/delivery/backlog',
      docs: 'operations#slow-destinations-and-limits',
      word: names.backlog,
      also: also.backlog,
      key: 'b',
      needs: 'admin',
    },
    { to: '/delivery/holds', docs: 'operations#holds', word: names.holds, also: also.holds, key: 'h', needs: 'admin' },
    {
      to: '/delivery/bulk-actions',
      docs: 'admin-actions#bulk-operations',
      word: names.bulk,
      also: also.bulk,
      needs: 'admin',
    },
    {
      to: '/delivery/incidents',
      docs: 'admin-actions#stats-backlog-and-failures',
      word: names.incidents,
      also: also.incidents,
      key: 'i',
      needs: 'admin',
    },
  ]),
  section('workspace', names.settings, Settings, [
    {
      to: '/settings/api-keys',
      docs: 'security#api-keys',
      word: names.apiKeys,
      also: also.apiKeys,
      key: 'k',
      needs: 'admin',
    },
    {
      to: '/settings/general',
      docs: 'sending#content-retention',
      word: names.general,
      also: also.general,
      key: 'g',
      needs: 'admin',
    },
    {
      to: '/settings/members',
      docs: 'operations#people',
      word: names.members,
      also: also.members,
      key: 'p',
      needs: 'admin',
    },
    {
      to: '/settings/transports',
      docs: 'transports',
      word: names.transports,
      also: also.transports,
      needs: 'admin',
    },
    { to: '/settings/alerts', docs: 'metrics#alerts', word: names.alerts, also: also.alerts, needs: 'admin' },
    { to: '/settings/retention', docs: 'retention', word: names.retention, also: also.retention, needs: 'admin' },
    {
      to: '/settings/audit-log',
      docs: 'operations#audit-log',
      word: names.audit,
      also: also.audit,
      key: 'a',
      needs: 'admin',
    },
  ]),
  section('instance', names.status, HeartPulse, [
    {
      to: '/instance/status',
      docs: 'operations#start-and-stop',
      word: names.status,
      also: also.status,
      key: 'x',
      needs: 'operator',
    },
  ]),
  section('instance', names.incidents, Siren, [
    {
      to: '/instance/incidents',
      docs: 'admin-actions#stats-backlog-and-failures',
      word: names.incidents,
      also: also.incidents,
      key: 'i',
      needs: 'operator',
    },
  ]),
  section('instance', names.delivery, Truck, [
    {
      to: '/instance/delivery/backlog',
      docs: 'operations#slow-destinations-and-limits',
      word: names.backlog,
      also: also.backlog,
      key: 'b',
      needs: 'operator',
    },
    {
      to: '/instance/delivery/holds',
      docs: 'operations#holds',
      word: names.holds,
      also: also.holds,
      key: 'h',
      needs: 'operator',
    },
    {
      to: '/instance/delivery/transports',
      docs: 'transports',
      word: names.transports,
      also: also.transports,
      needs: 'operator',
    },
    {
      to: '/instance/delivery/bulk-actions',
      docs: 'admin-actions#bulk-operations',
      word: names.bulk,
      also: also.bulk,
      needs: 'operator',
    },
  ]),
  section('instance', names.jobs, Boxes, [
    {
      to: '/instance/queues',
      docs: 'admin-actions#queues-jobs-and-workers',
      word: names.queues,
      also: also.queues,
      key: 'q',
      needs: 'operator',
    },
    {
      to: '/instance/jobs',
      docs: 'admin-actions#queues-jobs-and-workers',
      word: names.jobs,
      also: also.jobs,
      key: 'j',
      needs: 'operator',
    },
    {
      to: '/instance/schedules',
      docs: 'admin-actions#queues-jobs-and-workers',
      word: names.schedules,
      also: also.schedules,
      needs: 'operator',
    },
    { to: '/instance/workers', docs: 'operations#scaling', word: names.workers, also: also.workers, needs: 'operator' },
  ]),
  section('instance', names.storage, HardDrive, [
    { to: '/instance/storage', docs: 'retention', word: names.storage, also: also.storage, needs: 'operator' },
  ]),
  section('instance', names.tenants, Building, [
    {
      to: '/instance/workspaces',
      docs: 'operations#workspaces-and-plans',
      word: names.workspaces,
      also: also.workspaces,
      needs: 'operator',
    },
    {
      to: '/instance/plans',
      docs: 'operations#workspaces-and-plans',
      word: names.plans,
      also: also.plans,
      needs: 'operator',
    },
  ]),
  section('instance', names.access, KeyRound, [
    {
      to: '/instance/operators',
      docs: 'operations#people',
      word: names.operators,
      also: also.operators,
      needs: 'operator',
    },
    { to: '/instance/audit-log', docs: 'operations#audit-log', word: names.audit, also: also.audit, needs: 'operator' },
  ]),
];

function section(space: Space, word: string, icon: LucideIcon, places: readonly Place[]): Section {
  return { space, word, icon, places };
}

export function spaceOf(pathname: string): Space {
  return /^\/instance(?:\/|$)/.test(pathname) ? 'instance' : 'workspace';
}

/** Returns the sections with the places that the user may see. */
export function visibleSections(me: Me, space?: Space): readonly Section[] {
  return sections
    .filter((one) => space === undefined || one.space === space)
    .map((one) => ({ ...one, places: one.places.filter(({ needs }) => needs === undefined || may(me, needs)) }))
    .filter(({ places }) => places.length > 0);
}

/** Returns where a path is in the navigation: on a place, or below it, such as the page of one email. */
export function locate(
  pathname: string,
): { readonly section: Section; readonly place: Place; readonly below: boolean } | null {
  const path = pathname.replace(/\/$/, '') || '/';
  const [match = null] = sections
    .flatMap((one) => one.places.map((place) => ({ section: one, place, below: place.to !== path })))
    .filter(({ place, below }) => !below || path.startsWith(`${place.to}/`))
    .sort((left, right) => right.place.to.length - left.place.to.length);
  return match;
}
