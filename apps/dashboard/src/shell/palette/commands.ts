import type { useNavigate } from '@tanstack/react-router';
import {
  Ban,
  Boxes,
  Building2,
  CirclePause,
  CircleUser,
  CircleX,
  Globe,
  Keyboard,
  KeyRound,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  PenLine,
  Server,
  Sun,
  Undo2,
  Webhook,
} from 'lucide-react';
import { type Me, may, type Scope } from '../../api/me.ts';
import { signOut } from '../../api/session.ts';
import { floating } from '../floating.ts';
import { newEmail, visibleSections } from '../navigation.ts';
import { words } from '../strings.ts';
import { switchWorkspace } from '../switch-workspace.ts';
import { setTheme } from '../theme.ts';

/** Something that the palette opens or does. */
export interface Command {
  readonly id: string;
  readonly word: string;
  /** Other words that find it. */
  readonly also: string;
  readonly about: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

type Navigate = ReturnType<typeof useNavigate>;

const text = words.palette;

/** Returns every page that the user may open. */
export function pageCommands(me: Me, navigate: Navigate): readonly Command[] {
  return visibleSections(me).flatMap((section) =>
    section.places.map(({ to, word, also }): Command => {
      const within = section.word === word ? [] : [section.word];
      return {
        id: `page ${to}`,
        word: [...within, word].join(' › '),
        also: `${word}, ${also}`,
        about: section.space === 'instance' ? words.instance : text.page,
        icon: section.icon,
        run: () => void navigate({ to }),
      };
    }),
  );
}

const creations: readonly (readonly [word: string, also: string, icon: LucideIcon, path: string, needs: Scope])[] = [
  [words.newEmail, 'compose, write, send a test email', PenLine, newEmail.to, newEmail.needs],
  [text.newKey, 'create API key, token', KeyRound, '/settings/api-keys?open=new', 'admin'],
  [text.newDomain, 'add sender domain, verify', Globe, '/domains?open=new', 'domains:write'],
  [text.newWebhook, 'create endpoint', Webhook, '/webhooks?open=new', 'webhooks:manage'],
  [text.newSuppression, 'block an address', Ban, '/suppressions?open=new', 'admin'],
  [text.newMember, 'invite a person, add a user', CircleUser, '/settings/members?open=new', 'admin'],
  [text.erase, 'GDPR, delete personal data', Ban, '/settings/retention?open=new', 'admin'],
  [text.cancelEmail, 'cancel email, stop an email', CircleX, '/emails/scheduled', 'email:send'],
  [text.bouncedEmail, 'failed email, bounces', Undo2, '/emails?q=status%3Abounced%2Cfailed', 'email:logs:read'],
  [text.deadJobs, 'failed jobs, retry dead jobs', Boxes, '/instance/jobs?state=dead', 'operator'],
  [text.newHold, 'pause sending, stop', CirclePause, '/delivery/holds?open=new', 'admin'],
];

/** Returns every action that the user may take. */
export function actionCommands(me: Me, navigate: Navigate, push: (path: string) => void): readonly Command[] {
  const action = (id: string, word: string, icon: LucideIcon, run: () => void, also = ''): Command => {
    return { id, word, also, about: text.action, icon, run };
  };
  return [
    ...creations
      .filter(([, , , , needs]) => may(me, needs))
      .map(([word, also, icon, path]) => action(`new ${path}`, word, icon, () => push(path), also)),
    ...me.workspaces
      .filter(({ id }) => id !== me.workspace_id)
      .map(({ id, name }) => action(`switch ${id}`, text.switchTo(name), Building2, () => switchWorkspace(id))),
    ...(may(me, 'operator')
      ? [action('instance', text.openInstance, Server, () => void navigate({ to: '/instance/status' }))]
      : []),
    action(
      'account',
      words.account.settings,
      CircleUser,
      () => void navigate({ to: '/settings/account' }),
      text.accountAlso,
    ),
    action('shortcuts', words.account.shortcuts, Keyboard, () => floating.set('shortcuts'), 'keys, help'),
    action('light', words.account.theme.light, Sun, () => setTheme('light'), 'theme'),
    action('dark', words.account.theme.dark, Moon, () => setTheme('dark'), 'theme'),
    action('system', words.account.theme.system, Monitor, () => setTheme('system'), 'automatic'),
    action('sign out', words.account.signOut, LogOut, () => void signOut(), 'log out'),
  ];
}

const DOMAIN = /^(?:hold\s+)?((?:[a-z0-9-]+\.)+[a-z]{2,})$/i;

/** Returns the action on a destination that the text names, such as "hold gmail.com". */
export function destinationCommands(me: Me, typed: string, push: (path: string) => void): readonly Command[] {
  const domain = DOMAIN.exec(typed.trim())?.[1]?.toLowerCase();
  if (domain === undefined || !may(me, 'operator')) return [];
  const path = `/instance/delivery/holds?open=new&destination=${encodeURIComponent(domain)}`;
  return [
    {
      id: `hold ${domain}`,
      word: text.hold(domain),
      also: typed,
      about: text.action,
      icon: CirclePause,
      run: () => push(path),
    },
  ];
}
