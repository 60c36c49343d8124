import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { program_name } from '@postrider/core/program';
import { z } from 'zod';
import { Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';

const profile = z.object({ url: z.string().optional(), key: z.string().optional() });
type Profile = z.output<typeof profile>;

export interface Settings {
  readonly url: { readonly url: string; readonly from: string } | null;
  readonly key: string | undefined;
}

/** Returns the environment's settings, completed by the profile. */
export function settingsOf(terminal: Terminal): Settings {
  const { POSTRIDER_URL: url, POSTRIDER_API_KEY: key } = terminal.env;
  const file = profileFile(terminal);
  const stored_profile = url && key ? {} : readProfile(file);
  return {
    url: url
      ? { url, from: 'POSTRIDER_URL' }
      : stored_profile.url
        ? { url: stored_profile.url, from: `url in ${file}` }
        : null,
    // A key belongs to its instance, so the profile's key is not sent to another URL set in the environment.
    key: key || (url && url !== stored_profile.url ? undefined : stored_profile.key),
  };
}

export function profileFile({ env }: Terminal): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'postrider', 'config.json');
}

function readProfile(file: string): Profile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new Problem({
      reason: 'profile_is_open',
      message: `${file} contains an API key and is readable by other users.`,
      advice: `Run chmod 600 ${file}. Revoke the key if someone else may have read it.`,
    });
  }
  const read = profile.safeParse(jsonOf(text));
  if (read.success) return read.data;
  throw new Problem({
    reason: 'invalid_profile',
    message: `${file} is not { "url": "…", "key": "…" }.`,
    advice: `Run ${program_name} login to write it again.`,
  });
}

/** Writes the profile. Its key is never written to a file that others can read, or through a symbolic link. */
export function writeProfile(terminal: Terminal, values: Profile): string {
  const file = profileFile(terminal);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Problem({
      reason: 'profile_is_a_link',
      message: `${file} is a symbolic link, so the API key would be written to its target.`,
      advice: 'Remove the link and log in again.',
    });
  }
  const fresh = `${file}.${randomUUID()}`;
  try {
    writeFileSync(fresh, `${JSON.stringify(values, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  return file;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
