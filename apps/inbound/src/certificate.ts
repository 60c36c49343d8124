import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Services } from '@postrider/core';

const CERTIFICATE_POLL_MS = 2000;

/** Returns the certificate of the SMTP listeners, or null if none is configured. */
export async function certificateOf({ config }: Services): Promise<{ key: Buffer; cert: Buffer } | null> {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = config;
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return null;
  const [cert, key] = await Promise.all([
    readOrExplain('TLS_CERT_FILE', TLS_CERT_FILE),
    readOrExplain('TLS_KEY_FILE', TLS_KEY_FILE),
  ]);
  return { cert, key };
}

async function readOrExplain(name: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reloads renewed certificates when their files change, without a restart. Returns a function that stops watching. */
export function watchCertificate(services: Services, use: (tls: { key: Buffer; cert: Buffer }) => void): () => void {
  const { config, log } = services;
  const files = [config.TLS_CERT_FILE, config.TLS_KEY_FILE].filter((file) => file !== undefined);
  const changed = () => {
    certificateOf(services)
      .then((tls) => {
        if (!tls) return;
        // Throws if only one of the two files has been replaced so far, so that the server never uses a mismatched
        // pair.
        createSecureContext(tls);
        use(tls);
        log.info('reloaded the TLS certificate');
      })
      .catch((error: unknown) =>
        log.error({ err: error }, 'the new TLS certificate is invalid; still using the previous one'),
      );
  };
  for (const file of files) watchFile(file, { interval: CERTIFICATE_POLL_MS, persistent: false }, changed);
  return () => {
    for (const file of files) unwatchFile(file, changed);
  };
}
