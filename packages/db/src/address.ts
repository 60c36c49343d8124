import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { takeTls } from './tls/take-tls.ts';

// Parameters of ours in an address, so that they come wherever the address does; no driver and no server sees them.
const FILE = 'postrider_password_file';
const POOLED = 'postrider_pooled';

/** An address whose password is in a file, which is read again for each new connection. */
export function withPasswordFile(address: string, file: string): string {
  const url = new URL(address);
  url.searchParams.set(FILE, file);
  return url.href;
}

/** The address of a pooler, which takes no settings of a session when it is connected to. */
export function throughPooler(address: string): string {
  const url = new URL(address);
  url.searchParams.set(POOLED, 'true');
  return url.href;
}

export interface OpenedAddress {
  /** For a driver; without TLS parameters, and without a password where that is in a file. */
  readonly url: string;
  readonly ssl: ConnectionOptions | false;
  readonly password: (() => string) | null;
  readonly pooled: boolean;
}

/** Throws if a file that the address names cannot be read. */
export function openAddress(address: string): OpenedAddress {
  // The error of the URL parser would name the address with its password.
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
        // It is being replaced: the next connection reads it.
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

/** How pg, and what is built on it, connects to an address. */
export function pgConnection(address: string): pg.ClientConfig {
  const { url, ssl, password } = openAddress(address);
  if (password === null) return { connectionString: url, ssl };
  // What pg reads from an address wins over the option of the same name, and an address without a password has an
  // empty one: so it parses the address, and gets its parts. Nothing connects here.
  const { host, port, user, database } = new pg.Client({ connectionString: url });
  const options = new URL(url).searchParams.get('options');
  return { host, port, user, database, ssl, password, ...(options !== null && { options }) };
}
