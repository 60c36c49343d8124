import { KeyRound, LayoutDashboard, type LucideIcon } from 'lucide-react';
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
  { to: '/settings/api-keys', word: 'API Keys', icon: KeyRound, group: 'settings', key: 'k' },
];
