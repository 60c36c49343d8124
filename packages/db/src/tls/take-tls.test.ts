import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { takeTls, tlsFault } from './take-tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));
const authority = join(folder, 'authority.pem');
writeFileSync(authority, 'an authority');

const read = (address: string) => takeTls(new URL(`postgres://ada:secret@${address}`));

describe('TLS for a database URL', () => {
  it.each(['localhost/x', '127.0.0.1/x', '127.8.8.8:5432/x', '[::1]/x', '%2Fvar%2Frun%2Fpostgresql/x'])(
    'fairness P33: is off for a database on this machine unless requested: %s',
    (address) => {
      expect(read(address).ssl).toBe(false);
      expect(read(`${address}?sslmode=verify-full`).ssl).toMatchObject({ rejectUnauthorized: true });
    },
  );

  it.each(['db.test/x', '10.0.0.7/x', '[fd00::7]/x', 'localhost.db.test/x', '/x'])(
    'fairness P33: verifies the certificate and its host name for any other host: %s',
    (address) => {
      const url = new URL(address === '/x' ? 'postgres:///x' : `postgres://ada@${address}`);

      const { ssl } = takeTls(url);

      expect(ssl).toMatchObject({ rejectUnauthorized: true });
      if (!ssl) throw new Error('it has no TLS');
      const other = { subject: { CN: 'other.test' }, subjectaltname: 'DNS:other.test' };
      // Only the part of a peer certificate that the name check reads.
      expect(ssl.checkServerIdentity?.('ignored', other as never)).toBeInstanceOf(Error);
    },
  );

  it.each([
    ['disable', false],
    ['require', { rejectUnauthorized: false }],
    [`require&sslrootcert=${authority}`, { rejectUnauthorized: true, ca: 'an authority' }],
    ['verify-ca', { rejectUnauthorized: true }],
    [`verify-full&sslrootcert=${authority}`, { rejectUnauthorized: true, ca: 'an authority' }],
    [`verify-full&sslcert=${authority}&sslkey=${authority}`, { cert: 'an authority', key: 'an authority' }],
  ])('fairness P33: is determined by the URL: sslmode=%s', (sslmode, ssl) => {
    const result = read(`db.test/x?application_name=a&sslmode=${sslmode}`);

    expect({ ssl: result.ssl }).toMatchObject({ ssl });
    expect(result.url.href).toBe('postgres://ada:secret@db.test/x?application_name=a');
  });

  it.each([
    ['sslmode=prefer', /falls back to plaintext/],
    ['sslmode=verify_full', /none of disable, require, verify-ca, verify-full/],
    ['sslrootcert=/nowhere/root.pem', /cannot be read: ENOENT/],
  ])('fairness P33: is rejected if it cannot be enforced: %s', (query, fault) => {
    expect(tlsFault(new URL(`postgres://db.test/x?${query}`))).toMatch(fault);
    expect(tlsFault(new URL('postgres://db.test/x?sslmode=verify-full'))).toBeNull();
  });
});
