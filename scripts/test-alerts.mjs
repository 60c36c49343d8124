// Tests deploy/prometheus with Debian's Prometheus (apt-get install prometheus): promtool runs the unit tests of the rules,
// then a Prometheus with those rules scrapes a Postrider that this starts. Not part of npm test, which needs no Debian.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const rules = join(root, 'deploy/prometheus');
const DEADLINE_MS = 120_000;

function promtool(...args) {
  const { status, error } = spawnSync('promtool', args, { cwd: rules, stdio: 'inherit' });
  if (error) throw new Error('promtool is not installed; on Debian, apt-get install prometheus brings it');
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} failed`);
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What Prometheus answers to a query, until it is what is wanted. */
async function until(port, query, fits) {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${query}`).then(
      (response) => response.json(),
      () => null,
    );
    if (answer && fits(answer.data)) return answer.data;
    if (performance.now() > deadline) throw new Error(`${query} answers ${JSON.stringify(answer)}`);
    await pause(500);
  }
}

async function scrapeOne() {
  const directory = await mkdtemp(join(tmpdir(), 'postrider-alerts-'));
  const [metrics, own] = [await freePort(), await freePort()];
  const text = await readFile(join(rules, 'prometheus.yml'), 'utf8');
  await writeFile(
    join(directory, 'prometheus.yml'),
    text
      .replace('127.0.0.1:9464', `127.0.0.1:${metrics}`)
      .replaceAll(/_interval: 15s/g, '_interval: 1s')
      .replace('- alerts.yml', `- ${join(rules, 'alerts.yml')}`),
  );
  const env = { ...process.env, DATA_DIR: join(directory, 'data'), METRICS_PORT: String(metrics), LOG_LEVEL: 'error' };
  const server = spawn(process.execPath, [join(root, 'apps/server/src/main.ts')], { env, stdio: 'ignore' });
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${own}`,
      '--log.level=error',
    ],
    { stdio: 'inherit' },
  );
  try {
    await until(own, 'query?query=up', ({ result }) => result.some(({ value }) => value[1] === '1'));
    await until(own, 'query?query=postrider_worker_live{role="worker"}', ({ result }) => result[0]?.value[1] === '1');
    const { groups } = await until(own, 'rules', (data) =>
      data.groups[0]?.rules.every(({ health }) => health === 'ok'),
    );
    process.stdout.write(`Prometheus scrapes, and ${groups[0].rules.length} rules are evaluated.\n`);
  } finally {
    for (const child of [prometheus, server]) {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    await rm(directory, { recursive: true, force: true });
  }
}

promtool('check', 'rules', 'alerts.yml');
promtool('check', 'config', 'prometheus.yml');
promtool('test', 'rules', 'alerts.test.yml');
await scrapeOne();
