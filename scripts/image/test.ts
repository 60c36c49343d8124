// npm run test:image: starts the image of the release in dist as docker-compose.yml describes its services, without a
// container engine: each in its own mount namespace, under the image's user, with a read-only root.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbedded } from '@postrider/db/embedded';
import { freePort } from '@postrider/testing/free-port';
import { readVersion } from '../release/version.ts';
import { ask, baseName, buildah, imageConfig, mountImage, require, root } from './buildah.ts';
import { type ComposeService, readCompose } from './compose.ts';
import { type Container, startContainer } from './container.ts';

const MAX_MB = 250;
const MAX_READY_MS = 1500;
const STARTS = 5;
const DELIVER_TRIES = 100;
const DELIVER_MS = 100;

require('buildah', 'unshare', 'docker-compose', 'python3');
const version = readVersion();
const archive = join(root, `dist/postrider-${version}-image-${process.arch}.tar`);
if (!existsSync(archive)) throw new Error(`${archive} is not there yet: npm run release -- --image`);
const image = ask('buildah', buildah('pull', '--quiet', `oci-archive:${archive}`));
const idle_only = process.argv.includes('--idle');
const key = `pr_live_${randomBytes(32).toString('hex')}`;
const variables = {
  POSTGRES_PASSWORD: randomBytes(32).toString('hex'),
  SECRET_KEY: randomBytes(32).toString('hex'),
  BOOTSTRAP_API_KEY: key,
  ADMIN_EMAIL: 'operator@example.com',
  ADMIN_PASSWORD: randomBytes(12).toString('hex'),
};
const config = imageConfig(image);
const data_dir = mkdtempSync(join(tmpdir(), 'postrider-image-data-'));
chmodSync(data_dir, 0o711);
const running = new Set<Container>();
const stops: (() => Promise<void> | void)[] = [() => rmSync(data_dir, { recursive: true, force: true })];
try {
  const labels = Object.fromEntries(
    Object.entries(config.Labels).map(([name, value]) => [name.replace('org.opencontainers.image.', ''), value]),
  );
  assert.deepEqual([labels.title, labels.version, labels.licenses], ['Postrider', version, 'MIT']);
  assert.match(labels.revision ?? '', /^[0-9a-f]{40}$/);
  assert.match(config.User, /^\d+$/);
  assert.notEqual(config.User, '0');
  const { path: tree, remove } = mountImage(image);
  stops.unshift(remove);
  // Files that a container engine mounts over.
  for (const name of ['resolv.conf', 'hosts']) {
    if (!existsSync(join(tree, 'etc', name))) writeFileSync(join(tree, 'etc', name), '');
  }
  const bill = readFileSync(join(tree, 'app/sbom.cdx.json'), 'utf8');
  assert.equal(bill, readFileSync(join(root, `dist/postrider-${version}.cdx.json`), 'utf8'));
  console.log('ok     the archive has its labels and the bill of materials');
  measureSize(tree);
  const database = await startEmbedded({ data_dir });
  stops.unshift(() => database.stop());
  const before = filesOf(tree);
  await runServices(tree, database.url);
  await measureStarts(tree, database.url);
  assert.deepEqual(changes(before, filesOf(tree)), [], 'files changed outside /tmp');
  console.log('ok     no file changed outside /tmp and the data of Postgres');
} finally {
  for (const container of running) await container.stop();
  for (const stop of stops) await stop();
}

function measureSize(tree: string): void {
  const { path, remove } = mountImage(baseName());
  try {
    const [base_mb, all_mb] = [path, tree].map((folder) => Number(ask('du', ['-sxm', folder]).split('\t')[0]));
    const above = (all_mb ?? 0) - (base_mb ?? 0);
    assert.ok(above <= MAX_MB, `${above} MB above the base, and ${MAX_MB} MB is the limit`);
    console.log(`ok     ${above} MB above its base of ${base_mb} MB (at most ${MAX_MB})`);
  } finally {
    remove();
  }
}

async function open(
  tree: string,
  service: ComposeService,
  url: string,
  extra: Readonly<Record<string, string>> = {},
  read_only = service.read_only === true,
): Promise<Container & { readonly port: number }> {
  const port = await freePort();
  const inbound = service.environment.INBOUND_PORT === undefined ? {} : { INBOUND_PORT: String(await freePort()) };
  const env = { ...service.environment, DATABASE_URL: url, PORT: String(port), ...inbound, ...extra };
  const container = startContainer({
    tree,
    config,
    env,
    health_check: service.healthcheck.test ?? [],
    read_only,
    ...(service.command && { command: service.command }),
  });
  running.add(container);
  void container.ended.then(() => running.delete(container));
  return { ...container, port };
}

/** Runs each service in docker-compose.yml with its environment and command, in order, on one Postgres. */
async function runServices(tree: string, url: string): Promise<void> {
  const { migrate, app } = readCompose(variables);
  const { app: apart, worker } = readCompose({ ...variables, APP_ROLES: 'rest,admin,inbound' });
  assert.ok(migrate && app && apart && worker, 'docker-compose.yml lacks a service');
  for (const service of [migrate, app, worker]) {
    assert.equal(service.read_only, true);
    assert.deepEqual(service.cap_drop, ['ALL']);
  }
  console.log('ok     docker-compose accepts docker-compose.yml');

  const migration = await open(tree, migrate, url);
  assert.equal(await migration.ended, 0, migration.output());
  console.log('ok     migrate ended with 0');

  const single = await open(tree, app, url);
  console.log(`ok     app: its health check passed after ${seconds(await single.healthy())}`);
  await deliver(single);
  await stop('app', single);

  const [api, sender] = [await open(tree, apart, url), await open(tree, worker, url)];
  await Promise.all([api.healthy(), sender.healthy()]);
  console.log('ok     app and worker apart: both health checks passed');
  await deliver(api);
  await stop('worker', sender);
  await stop('app', api);
}

async function stop(name: string, container: Container): Promise<void> {
  assert.equal(await container.stop(), 0, container.output());
  console.log(`ok     ${name} stopped with 0`);
}

async function deliver({ port, output }: Container & { readonly port: number }): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Through the image', text: 'Hi' };
  const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
    method: 'POST',
    headers,
    body: JSON.stringify(mail),
  });
  assert.equal(response.status, 202, await response.clone().text());
  const { id } = (await response.json()) as { id: string };
  let status = 'queued';
  for (let tries = 0; tries < DELIVER_TRIES && status !== 'delivered'; tries++) {
    await pause(DELIVER_MS);
    const entry = await fetch(`http://127.0.0.1:${port}/v1/email/${id}`, { headers });
    ({ status } = (await entry.json()) as { status: string });
  }
  assert.equal(status, 'delivered', output());
  console.log('ok     one mail sent and delivered');
}

/** Measures the time from program start to the first 200 from /readyz. One start of each kind has a writable root. */
async function measureStarts(tree: string, url: string): Promise<void> {
  const { app } = readCompose(variables);
  assert.ok(app);
  const time = async (extra: Readonly<Record<string, string>>) => {
    const starts: { readonly ready_ms: number; readonly cpu_ms: number }[] = [];
    for (let start = 0; start < STARTS; start++) {
      const container = await open(tree, app, url, extra, start > 0);
      starts.push({ ready_ms: await container.ready(), cpu_ms: container.cpu() });
      await container.stop();
    }
    const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[STARTS >> 1] ?? Number.NaN;
    return {
      ready_ms: median(starts.map(({ ready_ms }) => ready_ms)),
      cpu_ms: median(starts.map(({ cpu_ms }) => cpu_ms)),
    };
  };
  const line = ({ ready_ms, cpu_ms }: Awaited<ReturnType<typeof time>>) =>
    `${seconds(ready_ms)} (${seconds(cpu_ms)} of a processor)`;
  const compiled = await time({});
  const plain = await time({ NODE_DISABLE_COMPILE_CACHE: '1' });
  console.log(
    `${compiled.ready_ms <= MAX_READY_MS ? 'ok    ' : 'SLOW  '} ready after ${line(compiled)}, median of ${STARTS}; ` +
      `without what the build compiled ${line(plain)}; at most ${seconds(MAX_READY_MS)} where nothing else runs`,
  );
  if (idle_only) assert.ok(compiled.ready_ms <= MAX_READY_MS);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Returns size, owner, mode and modification time of every file. */
function filesOf(tree: string): Map<string, string> {
  const lines = ask('find', [
    tree,
    '-xdev',
    '-path',
    `${tree}/tmp`,
    '-prune',
    '-o',
    '-printf',
    '%P\t%y %s %U %m %C@\n',
  ]);
  return new Map(lines.split('\n').map((line) => line.split('\t') as [string, string]));
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}
