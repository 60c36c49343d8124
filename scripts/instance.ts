// Runs a Postrider instance with its own data, for the scripts that run samples and the client.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** Shares the compile cache, so that later programs start faster. */
export const compiled = join(root, 'node_modules/.cache/compiled');

export interface Instance {
  readonly url: string;
  readonly key: string;
  readonly data_dir: string;
  /** The settings that it was started with. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts an instance as a user would, on free ports, without this process's environment. */
export async function startInstance(settings: Readonly<Record<string, string>> = {}): Promise<Instance> {
  const data_dir = mkdtempSync(join(tmpdir(), 'postrider-data-'));
  // Postgres may run as another user, who must be able to traverse the directory.
  chmodSync(data_dir, 0o711);
  const child = spawn(process.execPath, [join(root, 'apps/server/src/main.ts')], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: compiled,
      LOG_LEVEL: 'warn',
      DATA_DIR: data_dir,
      PORT: '0',
      CAPTURE_PORT: '0',
      INBOUND_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
    rmSync(data_dir, { recursive: true, force: true });
  };
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const banner = new Promise<string>((resolve) => {
    child.stdout.on('data', () => {
      if (out.includes('Press Ctrl-C to stop')) resolve(out);
    });
  });
  const line = await Promise.race([banner, closed.then(() => out)]);
  const url = /ready at (\S+)/.exec(line)?.[1];
  const key_file = /API key +in (\S+)/.exec(line)?.[1];
  const key = key_file === undefined ? undefined : readFileSync(key_file, 'utf8').trim();
  if (url !== undefined && key !== undefined) return { url, key, data_dir, settings, stop };
  await stop();
  throw new Error(`Postrider could not start: ${out}`);
}
