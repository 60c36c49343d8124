import { readFileSync } from 'node:fs';

/** What a service manager does with a unit. */
export interface Unit {
  readonly name: string;
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly starts_before: readonly (readonly string[])[];
  readonly start: readonly string[];
  readonly starts_after: readonly (readonly string[])[];
  readonly start_ms: number;
  readonly folder: string;
  /** Folders below /var/lib and /var/cache that belong to the user, with their modes. */
  readonly folders: readonly { readonly path: string; readonly mode: string }[];
  readonly capabilities: readonly string[];
}

type Settings = ReadonlyMap<string, readonly string[]>;

/** Reads a unit as systemd does, in a tree that is not the machine's own. An instance has its number after the @. */
export function readUnit(tree: string, name: string): Unit {
  const instance = /@(.+)\.service$/.exec(name)?.[1] ?? '';
  const file = name.replace(/@.+\.service$/, '@.service');
  const settings = settingsOf(readFileSync(`${tree}/etc/systemd/system/${file}`, 'utf8').replaceAll('%i', instance));
  const all = (key: string) => settings.get(key) ?? [];
  const one = (key: string) => all(key).at(-1) ?? '';
  const words = (text: string) => text.split(/\s+/).filter(Boolean);
  const folders = [
    ...words(one('StateDirectory')).map((folder) => ({
      path: `/var/lib/${folder}`,
      mode: one('StateDirectoryMode') || '0755',
    })),
    ...words(one('CacheDirectory')).map((folder) => ({ path: `/var/cache/${folder}`, mode: '0755' })),
  ];
  return {
    name,
    user: one('User') || 'root',
    environment: {
      ...assignments(all('Environment').flatMap(words)),
      ...assignments(all('EnvironmentFile').flatMap((path) => readFileSync(`${tree}${path}`, 'utf8').split('\n'))),
    },
    starts_before: all('ExecStartPre').map(words),
    start: words(one('ExecStart')),
    starts_after: all('ExecStartPost').map(words),
    start_ms: 1000 * Number(one('TimeoutStartSec') || '90'),
    folder: one('WorkingDirectory') || '/',
    folders,
    capabilities: words(one('AmbientCapabilities')).map((capability) => capability.replace(/^CAP_/, '').toLowerCase()),
  };
}

function settingsOf(text: string): Settings {
  const settings = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line.trim()) ?? [];
    if (key === undefined || value === undefined) continue;
    // An empty value clears what was set before.
    settings.set(key, value === '' ? [] : [...(settings.get(key) ?? []), value]);
  }
  return settings;
}

function assignments(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^([A-Z_][A-Z0-9_]*)=(.*)$/.exec(line.trim()) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}
