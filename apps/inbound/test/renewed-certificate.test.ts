import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createServices } from '@postrider/core';
import { startListener } from '@postrider/inbound';
import { expiredCertificate, mailCertificate } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, expect, it } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'postrider-inbound-'));
const files = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const world = await openWorld({ RETURN_PATH_DOMAIN: 'bounces.example.org' });

/** Returns the certificate that STARTTLS presents. */
async function shownAt(port: number): Promise<string> {
  const plain = connect(port, '127.0.0.1');
  for (const say of ['EHLO mx.example.com\r\n', 'STARTTLS\r\n', null]) {
    await once(plain, 'data');
    if (say !== null) plain.write(say);
  }
  const sealed = connectTls({ socket: plain, rejectUnauthorized: false });
  await once(sealed, 'secureConnect');
  const fingerprint = sealed.getPeerX509Certificate()?.fingerprint256 ?? '';
  sealed.destroy();
  return fingerprint;
}

it('the bounce port uses a renewed certificate without a restart', async () => {
  writeFileSync(files.TLS_CERT_FILE, mailCertificate.cert);
  writeFileSync(files.TLS_KEY_FILE, mailCertificate.key);
  const services = createServices({ ...world.services, config: { ...world.services.config, ...files } });
  const listener = await startListener(services, 0);
  const before = await shownAt(listener.port);

  writeFileSync(files.TLS_CERT_FILE, expiredCertificate.cert);
  writeFileSync(files.TLS_KEY_FILE, expiredCertificate.key);

  await expect.poll(() => shownAt(listener.port)).not.toBe(before);
  await listener.stop();
});
