import { chmod, chown, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseCertificate } from '@postrider/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pgConnection } from '../address.ts';
import { connect } from '../connect.ts';
import { type EmbeddedServer, startEmbedded } from '../embedded.ts';
import { isCertificateFault } from './take-tls.ts';

// A separate server, because the one used by the tests has no TLS.
let folder: string;
let server: EmbeddedServer;
let authority: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postrider-tls-'));
  // Postgres may run as another user.
  await chmod(folder, 0o755);
  const data_dir = join(folder, 'data');
  server = await startEmbedded({ data_dir, settings: { fsync: 'off' } });
  await server.stop();
  const [cluster = ''] = (await readdir(data_dir)).filter((name) => name.startsWith('postgres'));
  const { uid, gid } = await stat(join(data_dir, cluster));
  authority = join(folder, 'cert.pem');
  const key = join(folder, 'key.pem');
  await writeFile(authority, databaseCertificate.cert);
  await writeFile(key, databaseCertificate.key, { mode: 0o600 });
  await chown(key, uid, gid);
  const settings = { fsync: 'off', ssl: 'on', ssl_cert_file: authority, ssl_key_file: key };
  server = await startEmbedded({ data_dir, settings });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

/**
 * Returns for each driver whether its connection is encrypted, or 'rejected' if the driver rejected the certificate.
 */
async function outcomesOf(host: string, query: string): Promise<(boolean | 'rejected')[]> {
  const url = new URL(server.url);
  url.hostname = host;
  const address = `${url.href}?${query}`;
  const sql = connect(address, { max: 1, application_name: 'tls-test' });
  const client = new pg.Client(pgConnection(address));
  const connect_attempts = [
    async () => (await sql.unsafe<{ ssl: boolean }[]>(ENCRYPTED))[0]?.ssl ?? false,
    async () => {
      await client.connect();
      return (await client.query<{ ssl: boolean }>(ENCRYPTED)).rows[0]?.ssl ?? false;
    },
  ];
  const outcomes: (boolean | 'rejected')[] = [];
  for (const attempt of connect_attempts) {
    outcomes.push(
      await attempt().catch((error: unknown) => {
        if (!isCertificateFault(error)) throw error;
        return 'rejected' as const;
      }),
    );
  }
  await sql.end();
  await client.end();
  return outcomes;
}

describe('both database drivers', () => {
  it.each([
    ['localhost', 'sslmode=disable', false],
    ['localhost', 'sslmode=require', true],
    ['localhost', 'sslmode=verify-full', 'rejected'],
    ['localhost', 'sslmode=verify-full&sslrootcert=AUTHORITY', true],
    ['127.0.0.1', 'sslmode=verify-full&sslrootcert=AUTHORITY', 'rejected'],
    ['127.0.0.1', 'sslmode=verify-ca&sslrootcert=AUTHORITY', true],
  ] as const)('fairness P33: treat %s with %s identically: %s', async (host, query, outcome) => {
    expect(await outcomesOf(host, query.replace('AUTHORITY', authority))).toEqual([outcome, outcome]);
  });
});

it('fairness P34: a commit is flushed to disk even if the role’s setting says otherwise', async () => {
  const admin = connect(server.url, { max: 1, application_name: 'tls-test' });
  await admin.unsafe('alter role current_user set synchronous_commit = off');
  const sql = connect(server.url, { max: 1, application_name: 'tls-test' });

  const [row] = await sql<{ durable: string }[]>`select current_setting('synchronous_commit') as durable`;

  expect(row?.durable).toBe('on');
  await Promise.all([sql.end(), admin.end()]);
});
