import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Provisioned } from '@postrider/core/workspaces';

/** Secrets that startup shows only once, or the files that it writes them to. */
export interface FirstSecrets {
  readonly api_key: SecretOutput | null;
  readonly password: SecretOutput | null;
  readonly login_link: SecretOutput | null;
}

/** A secret as a terminal shows it, or the file that contains it. */
export type SecretOutput = { readonly value: string } | { readonly file: string };

interface Values {
  readonly api_key: string | null;
  readonly password: string | null;
  readonly login_link: string | null;
}

export function secretsOf({ api_key, operator }: Provisioned): Omit<Values, 'login_link'> {
  return { api_key, password: operator?.password ?? null };
}

/** Shows secrets on a terminal. Elsewhere, output ends up in logs, so each secret is written to its own file. */
export async function showSecrets(values: Values, data_dir: string, terminal: boolean): Promise<FirstSecrets> {
  if (terminal) {
    const view = (value: string | null) => (value === null ? null : { value });
    return {
      api_key: view(values.api_key),
      password: view(values.password),
      login_link: view(values.login_link),
    };
  }
  if (Object.values(values).every((value) => value === null))
    return { api_key: null, password: null, login_link: null };
  const folder = await folderFor(data_dir);
  const outputOf = async (name: string, value: string | null) => {
    if (value === null) return null;
    const file = join(folder, name);
    await writeFile(file, `${value}\n`, { mode: 0o600 });
    // An existing file keeps its mode when it is overwritten.
    await chmod(file, 0o600);
    return { file };
  };
  return {
    api_key: await outputOf('api-key', values.api_key),
    password: await outputOf('operator-password', values.password),
    login_link: await outputOf('login-link', values.login_link),
  };
}

/**
 * Returns a folder in the data directory, or a temporary folder if the data directory is not writable, as in a
 * read-only container.
 */
async function folderFor(data_dir: string): Promise<string> {
  const folder = resolve(data_dir, 'first-start');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return mkdtemp(join(tmpdir(), 'postrider-first-start-'));
  }
}
