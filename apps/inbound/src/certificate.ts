import { readFile } from 'node:fs/promises';
import type { Services } from '@postrider/core';

/** The certificate of the SMTP listeners; null where none is set. */
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
