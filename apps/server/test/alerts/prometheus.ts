import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@postrider/testing/free-port';

const DEPLOY = fileURLToPath(new URL('../../../../deploy/prometheus', import.meta.url));
const NOT_INSTALLED = 'It is not installed; on Debian, apt-get install prometheus brings it.';

/** How far back a shortened rule's offset looks. */
export const OFFSET_SECONDS = 40;

/** Returns promtool's output for a file in deploy/prometheus, with its exit code. */
export function promtool(...words: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', words, { cwd: DEPLOY, encoding: 'utf8' });
  return { status, output: error ? `${error.message}. ${NOT_INSTALLED}` : `${stdout}${stderr}` };
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Prometheus {
  query(expression: string): Promise<readonly Sample[]>;
  /** Returns the names of the firing alerts. */
  firing(): Promise<string[]>;
  rules(): Promise<readonly { readonly name: string; readonly health: string }[]>;
  stop(): Promise<void>;
}

/**
 * Starts Debian's Prometheus with the configuration in deploy/prometheus, scraping and evaluating every second. Rule
 * durations are cut to a second and offsets to less than a minute. Thresholds and windows are unchanged.
 */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'postrider-alerts-'));
  const [config, rules] = await Promise.all(
    ['prometheus.yml', 'alerts.yml'].map((name) => readFile(join(DEPLOY, name), 'utf8')),
  );
  const listed = targets.map((target) => `'${target}'`).join(', ');
  await writeFile(
    join(directory, 'prometheus.yml'),
    (config ?? '').replace("'127.0.0.1:9464'", listed).replaceAll(/_interval: 15s/g, '_interval: 1s'),
  );
  await writeFile(
    join(directory, 'alerts.yml'),
    (rules ?? '').replaceAll(/for: \S+/g, 'for: 1s').replaceAll(/offset \w+/g, `offset ${OFFSET_SECONDS}s`),
  );
  const port = await freePort();
  const words = ['config.file=prometheus.yml', 'storage.tsdb.path=tsdb', `web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', ['--log.level=error', ...words.map((word) => `--${word}`)], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exit = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      output += `${error.message}. ${NOT_INSTALLED}`;
      resolve();
    });
    child.once('close', () => resolve());
  });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => null);
    // Prometheus responds in plain text until it has loaded its storage.
    if (!response?.headers.get('content-type')?.startsWith('application/json')) {
      throw new Error(`Prometheus does not answer yet. ${output}`);
    }
    const { status, error, data } = await response.json();
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    query: async (expression) => (await ask(`query?query=${encodeURIComponent(expression)}`)).result as Sample[],
    async firing() {
      const { alerts } = (await ask('alerts')) as { alerts: { state: string; labels: { alertname: string } }[] };
      return [...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))];
    },
    async rules() {
      const { groups } = (await ask('rules')) as { groups: { rules: { name: string; health: string }[] }[] };
      return groups.flatMap((group) => group.rules);
    },
    async stop() {
      child.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
