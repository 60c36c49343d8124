import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { takeTls } from './tls/take-tls.ts';

// Our own parameters, stored in the URL so that they travel with it. They are removed before a driver or server sees
// them.
const FILE = 'postrider_password_file';
const POOLED = 'postrider_pooled';

/** Returns a URL whose password is in a file, which is read again for each new connection. */
export function withPasswordFile(address: string, file: string): string {
  const url = new URL(address);
  url.searchParams.set(FILE, file);
  return url.href;
}

/** Returns the URL of a pooler, which does not accept session settings as startup parameters. */
export function throughPooler(address: string): string {
  const url = new URL(address);
  url.searchParams.set(POOLED, 'true');
  return url.href;
}

export interface OpenedAddress {
  /** For a driver: without TLS parameters, and without a password if the password is in a file. */
  readonly url: string;
  readonly ssl: ConnectionOptions | false;
  readonly password: (() => string) | null;
  readonly pooled: boolean;
}

/** Throws if a file that the URL names cannot be read. */
export function openAddress(address: string): OpenedAddress {
  // The URL parser's error would contain the URL, including its password.
  if (!URL.canParse(address)) throw new Error('The database URL is not valid.');
  const { url, ssl } = takeTls(new URL(address));
  const file = url.searchParams.get(FILE);
  const pooled = url.searchParams.has(POOLED);
  for (const name of [FILE, POOLED]) url.searchParams.delete(name);
  if (file === null) return { url: url.href, ssl, password: null, pooled };
  let known = readPassword(file);
  return {
    url: url.href,
    ssl,
    pooled,
    password() {
      try {
        known = readPassword(file);
      } catch {
        // The file is being replaced; the next connection reads it.
      }
      return known;
    },
  };
}

function readPassword(file: string): string {
  const password = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  if (password === '') throw new Error(`the file of DATABASE_PASSWORD_FILE, ${file}, is empty`);
  return password;
}

/** Returns the options with which pg, or anything built on pg, connects to a URL. */
export function pgConnection(address: string): pg.ClientConfig {
  const { url, ssl, password } = openAddress(address);
  if (password === null) return { connectionString: url, ssl };
  // In pg, values from the connection string override the options of the same name, and a URL without a password sets
  // an empty one. So pg only parses the URL here, and its parts are passed as options. Nothing connects here.
  const { host, port, user, database } = new pg.Client({ connectionString: url });
  const options = new URL(url).searchParams.get('options');
  return { host, port, user, database, ssl, password, ...(options !== null && { options }) };
}
