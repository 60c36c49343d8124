// Runs in the namespaces that test-install.ts creates: node install-drill.ts TREE VERSION NEXT BROKEN, the last two being
// releases to upgrade to. Its commands are those of docs/self-hosting.md.
import assert from 'node:assert/strict';
import { execFile, execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { dkimSignatures, startDnsZone, startSmtpSink } from '@postrider/testing';
import { Clients } from '../../bench/cluster/clients.ts';
import { SENDER as DOMAIN } from '../../bench/cluster/installation.ts';
import { type Program, startProgram } from '../../bench/cluster/program.ts';
import { newLedgers } from '../../bench/faults/ledgers.ts';
import { drillBlocks } from '../doc-blocks.ts';
import { checkProxy } from './proxy-checks.ts';
import { UnitRunner } from './unit-runner.ts';
import { WatchedPage } from './watched-page.ts';

const [tree = '', version = '', next_version = '', broken_version = ''] = process.argv.slice(2);
// The first one has built the release.
const [, INSTALL = '', RECONFIGURE = '', STATUS = '', UPGRADE = '', ROLLBACK = ''] = drillBlocks(
  'docs/self-hosting.md',
  'test:install',
);
const [BACK_UP = '', RESTORE = '', COMPARE = '', RELEASE = '', NEW_MACHINE = ''] = drillBlocks(
  'docs/backup.md',
  'test:install',
);
const PSQL = ['runuser', '-u', 'postgres', '--', 'psql', '--quiet', '--set=ON_ERROR_STOP=1', 'postrider'];
// A server that isn't running is stopped already.
const STOP_POSTGRES = 'pg_ctlcluster 15 main stop -m fast || [ $? = 2 ]';
const SETTINGS = '/etc/postrider/postrider.env';
const SINK_PORT = 2526;
const PER_SECOND = 20;
const STEADY_MS = 5000;
/** How long a page may be away while its process restarts; on a slow machine, twice as long as without load. */
const MAX_AWAY_MS = 5000;
const ARRIVAL_MS = 60_000;
const PROXY_PORT = 8080;
const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const SERVICE = 'http://127.0.0.1:3000';
const PATH_OF_ROOT = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** The checks of doctor that a machine without a network to the outside can pass. */
const OWN_CHECKS = new Set(['node', 'database', 'migrations', 'service', 'public_url', 'key']);

interface Domain {
  readonly dns_records: readonly { readonly fqdn: string; readonly type: string; readonly value: string }[];
  readonly status: string;
}

let quiet_restart_ms = 0;
let first_key = '';
let expected_crashes = 0;
const stops: (() => unknown)[] = [];
prepareTree();
const zone = await startDnsZone();
stops.unshift(() => zone.stop());
const sink = await startSmtpSink({ port: SINK_PORT });
stops.unshift(() => sink.stop());
const units = new UnitRunner(
  tree,
  new Map([
    ['postgresql.service', { start: ['pg_ctlcluster', '15', 'main', 'start'], stop: ['sh', '-c', STOP_POSTGRES] }],
  ]),
);
stops.unshift(() => units.stop());
let failed = true;
try {
  startServers();
  await install();
  await installAgain();
  await sendSigned();
  await upgradeUnderLoad();
  await failToUpgrade();
  await checkProxies();
  await runStatements();
  await backUpAndRestore();
  assert.deepEqual(units.crashes.slice(expected_crashes), []);
  console.log('ok     no unit ended unasked');
  failed = false;
} catch (error) {
  console.error(error);
} finally {
  if (failed) printLogs();
  for (const stop of stops) await stop();
  process.exit(failed ? 1 : 0);
}

function prepareTree(): void {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  for (const name of ['proc', 'dev']) {
    mkdirSync(join(tree, name), { recursive: true });
    execFileSync('mount', ['--rbind', `/${name}`, join(tree, name)]);
  }
  assert.notEqual(inTree('sh', '-c', 'command -v node').status, 0, 'the machine has a Node of its own');
}

function inTree(...command: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('chroot', [tree, ...command], { encoding: 'utf8', env: { PATH: PATH_OF_ROOT }, maxBuffer: 2 ** 26 });
}

function must(...command: readonly string[]): string {
  const { status, stdout, stderr } = inTree(...command);
  assert.equal(status, 0, `${command.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Starts Postgres and Postfix as Debian configures them; Postfix passes everything on to the sink. */
function startServers(): void {
  must('pg_ctlcluster', '15', 'main', 'start');
  stops.unshift(() => void inTree('pg_ctlcluster', '15', 'main', 'stop', '-m', 'immediate'));
  for (const setting of [
    `relayhost=[127.0.0.1]:${SINK_PORT}`,
    'mydestination=',
    'inet_interfaces=loopback-only',
    'inet_protocols=ipv4',
    'smtp_host_lookup=native',
    'maillog_file=/var/log/postfix.log',
    'myhostname=mail.shop.example',
    'mynetworks=127.0.0.0/8',
  ])
    must('postconf', '-e', setting);
  must('postfix', 'start');
  stops.unshift(() => void inTree('postfix', 'stop'));
}

/** Runs a block of the page as root, for a version and with this machine's addresses. */
async function runBlock(block: string, of_version: string): Promise<string> {
  const text = block
    .replaceAll('VERSION', of_version)
    .replace('DELIVERY=mx', 'DELIVERY=smtp://127.0.0.1:25 METRICS_PORT=9464')
    .replace('https://mail.example.com', PROXY)
    .replaceAll('example.com', DOMAIN);
  const command = [tree, 'env', '-i', '--chdir=/root', `PATH=${PATH_OF_ROOT}`, 'sh', '-e', '-c', text];
  const { stdout } = await promisify(execFile)('chroot', command);
  return stdout;
}

async function install(): Promise<void> {
  const output = await runBlock(INSTALL, version);
  assert.match(output, /Postrider \S+ runs at http:\/\/127\.0\.0\.1:3000/);
  const mode = must('stat', '-c', '%a %U %G', SETTINGS).trim();
  assert.equal(mode, '640 root postrider');
  console.log('ok     install.sh installs the release and starts it');
}

async function installAgain(): Promise<void> {
  const places = ['/opt/postrider', '/etc/postrider', '/etc/systemd/system', '/usr/local/bin'];
  const state = () => must('find', ...places, '-printf', '%p %y %s %m %U %C@ %l\n');
  const before = { files: state(), pid: units.pidOf('postrider.service') };
  const output = await runBlock('./postrider-VERSION/deploy/install.sh', version);
  assert.match(output, /is installed and running/);
  assert.deepEqual({ files: state(), pid: units.pidOf('postrider.service') }, before);
  console.log('ok     install.sh changes nothing the second time');
}

/** Returns the key of the first start, which a restored machine accepts but does not have in a file. */
function firstKey(): string {
  first_key ||= readFileSync(join(tree, 'var/lib/postrider/first-start/api-key'), 'utf8').trim();
  return first_key;
}

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${firstKey()}`, 'content-type': 'application/json' };
  const response = await fetch(`${SERVICE}/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Changes the settings as the guide says, then sends the first email through Postfix. */
async function sendSigned(): Promise<void> {
  appendFileSync(join(tree, SETTINGS), `DNS_SERVERS=${zone.address}\nLIMITS=drain=1s\nSUBMISSION_PORT=587\n`);
  const restarted_at = performance.now();
  // The machine has no way out of its network, so doctor finds more than what is wrong with the settings.
  await runBlock(RECONFIGURE.replace('postrider doctor', 'postrider doctor || true'), version);
  await untilReady(SERVICE);
  quiet_restart_ms = performance.now() - restarted_at;
  const added = await api<Domain>('POST', '/domains', { name: DOMAIN });
  for (const { fqdn, type, value } of added.dns_records) if (type === 'TXT') zone.set(fqdn, 'TXT', [value]);
  const domain = await api<Domain>('POST', `/domains/${DOMAIN}/verify`);
  assert.equal(domain.status, 'verified');
  const from = `Shop <hello@${DOMAIN}>`;
  await api('POST', '/email/send', { from, to: 'ada@example.com', subject: 'First', text: 'It works.' });
  const mail = await sink.waitFor(({ envelope_to }) => envelope_to.includes('ada@example.com'));
  assert.match(mail.raw.toString(), /^Received: .*\(Postfix\)/ms);
  const records = new Map(added.dns_records.map(({ fqdn, value }) => [fqdn, value]));
  for (const signature of await dkimSignatures(mail.raw, records))
    assert.match(signature, new RegExp(`^pass \\S+ ${DOMAIN}$`));
  console.log('ok     the first email arrives through Postfix with a valid DKIM signature');
}

/** Lets the clients send more than a plan's 1,000 emails a minute. */
function raiseLimits(): void {
  const program = ['env', `POSTRIDER_URL=${SERVICE}`, `POSTRIDER_API_KEY=${firstKey()}`, 'postrider'];
  for (const plan of ['free', 'starter', 'growth', 'business'])
    must(...program, 'plans', 'update', plan, '--send-per-minute', '100000');
}

async function upgradeUnderLoad(): Promise<void> {
  for (const unit of ['postrider-api@1', 'postrider-api@2', 'postrider-worker@1'])
    await system('enable', '--now', unit);
  for (const port of [3001, 3002, 3101]) await untilReady(`http://127.0.0.1:${port}`);
  const proxy = await startProxy();
  stops.unshift(() => proxy.stop());
  await untilReady(PROXY);
  raiseLimits();
  const doctor = inTree('postrider', 'doctor', '--json');
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; result: string; message: string }[] };
  const wrong = checks.filter(({ name, result }) => /^(failed|warning)$/.test(result) && OWN_CHECKS.has(name));
  assert.deepEqual(wrong, []);
  await runBlock(STATUS, version);
  console.log('ok     postrider doctor reads the settings of the service');
  const pages = [
    new WatchedPage('dashboard', `${SERVICE}/login`),
    ...[9464, 9465, 9466, 9565].map(
      (port) => new WatchedPage(`metrics on ${port}`, `http://127.0.0.1:${port}/metrics`),
    ),
  ];
  const ledgers = newLedgers();
  const options = { port: PROXY_PORT, secret: firstKey(), per_second: PER_SECOND, keyed: 1 };
  const clients = new Clients(ledgers, options);
  await pause(STEADY_MS);
  console.log((await runBlock(UPGRADE, next_version)).trim());
  assert.equal(readlinkSync(join(tree, 'opt/postrider/current')), `releases/${next_version}`);
  must(...PSQL, '--command', 'table upgraded');
  await pause(STEADY_MS);
  console.log((await runBlock(ROLLBACK, next_version)).trim());
  assert.equal(readlinkSync(join(tree, 'opt/postrider/current')), `releases/${version}`);
  await pause(STEADY_MS);
  await clients.stop();
  for (const page of pages) await page.stop();

  // A connection that was refused or cut is no response, and the same request was repeated.
  const [responses, cut] = [true, false].map((is_response) =>
    clients.failures.filter(({ what }) => /^\d{3} /.test(what) === is_response),
  );
  assert.deepEqual(responses, []);
  console.log(`ok     ${ledgers.accepted.length} responses are 202, after ${cut?.length} repeats of a cut connection`);
  const until = performance.now() + ARRIVAL_MS;
  while (arrivals().size < ledgers.sent.length && performance.now() < until) await pause(200);
  const counts = arrivals();
  const wrong_copies = ledgers.sent.filter(({ ids, recipients: [to = ''] }) => ids.size !== 1 || counts.get(to) !== 1);
  assert.deepEqual(wrong_copies, []);
  console.log('ok     each of them arrived once');
  const max_ms = Math.max(MAX_AWAY_MS, 2 * quiet_restart_ms);
  for (const { name, longest_ms } of pages) assert.ok(longest_ms <= max_ms, `${name} was away for ${longest_ms} ms`);
  console.log(
    `ok     ${pages.map(({ name, longest_ms }) => `${name} away for ${Math.round(longest_ms)} ms`).join(', ')}`,
  );
}

/** A release that exits at its start is gone afterwards, and the one before runs and can still be rolled back. */
async function failToUpgrade(): Promise<void> {
  const previous = readlinkSync(join(tree, 'opt/postrider/previous'));
  const began = performance.now();
  await assert.rejects(runBlock(UPGRADE, broken_version), /did not get ready, so \S+ was started again/);
  const seconds = Math.round((performance.now() - began) / 1000);
  assert.equal(readlinkSync(join(tree, 'opt/postrider/current')), `releases/${version}`);
  assert.equal(readlinkSync(join(tree, 'opt/postrider/previous')), previous);
  assert.equal(existsSync(join(tree, 'opt/postrider/releases', broken_version)), false);
  for (const url of [SERVICE, PROXY]) await untilReady(url);
  expected_crashes = units.crashes.length;
  console.log(`ok     an upgrade to a release that does not start is undone after ${seconds} s`);
}

/** Starts each proxy with the sample of the release, as its package would. */
async function checkProxies(): Promise<void> {
  const samples = '/opt/postrider/current/deploy';
  const letsencrypt = '/etc/letsencrypt/live/mail.example.com';
  must('mkdir', '-p', letsencrypt);
  const certificate = ['-keyout', `${letsencrypt}/privkey.pem`, '-out', `${letsencrypt}/fullchain.pem`];
  must('openssl', 'req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=mail.example.com', ...certificate);
  must('rm', '-f', '/etc/nginx/sites-enabled/default');
  must('cp', `${samples}/nginx/postrider.conf`, '/etc/nginx/sites-enabled/postrider.conf');
  must('nginx');
  stops.unshift(() => void inTree('nginx', '-s', 'quit'));
  const caddy = await startProgram({
    command: 'chroot',
    args: [tree, 'caddy', 'run', '--adapter', 'caddyfile', '--config', `${samples}/caddy/Caddyfile`],
    env: { POSTRIDER_SITE: 'http://127.0.0.1:8081', HOME: '/root' },
    log: join(tree, 'var/log/caddy.log'),
    ready: () => fetch('http://127.0.0.1:8081/readyz').then(({ ok }) => ok),
  });
  stops.unshift(() => caddy.stop());
  const from = `Shop <hello@${DOMAIN}>`;
  const key = firstKey();
  await checkProxy({ name: 'haproxy', url: PROXY, key, from });
  await checkProxy({ name: 'nginx', url: 'https://127.0.0.1', key, from });
  await checkProxy({ name: 'caddy', url: 'http://127.0.0.1:8081', key, from });
}

/** Runs what the page for DBAs has for psql. */
async function runStatements(): Promise<void> {
  must(...PSQL, '--command', "alter system set shared_preload_libraries = 'pg_stat_statements'");
  await system('restart', 'postgresql');
  for (const text of drillBlocks('docs/database.md', 'test:install')) must(...PSQL, '--command', text);
  console.log('ok     the statements of docs/database.md run');
}

async function sendOne(to: string): Promise<string> {
  const email = { from: `Shop <hello@${DOMAIN}>`, to, subject: 'Backup', text: 'Hi' };
  const { id } = await api<{ id: string }>('POST', '/email/send', email);
  await sink.waitFor(({ envelope_to }) => envelope_to.includes(to));
  return id;
}

async function backUpAndRestore(): Promise<void> {
  await runBlock(BACK_UP, version);
  const id = await sendOne('after-backup@example.com');
  await untilSent(id);
  must('runuser', '-u', 'postgres', '--', 'pgbackrest', '--stanza=postrider', 'check');
  await loseMachine();
  await runBlock(NEW_MACHINE, version);
  await runBlock(RESTORE, version);
  console.log((await runBlock(COMPARE.replaceAll('/var/log/mail.log', '/var/log/postfix.log'), version)).trim());
  await runBlock(RELEASE, version);
  await untilReady(SERVICE);
  await untilSent(id);
  await sendOne('after-restore@example.com');
  console.log('ok     the database is backed up, restored to the end of its archive, and sends again');
}

/** Leaves what a new machine has: the packages, an empty cluster, and the copies that the page asks for. */
async function loseMachine(): Promise<void> {
  must('cp', '/etc/postrider/postrider.env', '/etc/pgbackrest/conf.d/passphrase.conf', '/root');
  await system('stop', 'postrider*', 'postgresql');
  const programs = ['/opt/postrider', '/usr/local/bin/postrider', '/var/cache/postrider', '/var/lib/postrider'];
  const settings = ['/etc/postrider', '/etc/pgbackrest', '/etc/cron.d/postrider-backup'];
  must('sh', '-c', `rm -rf ${[...programs, ...settings].join(' ')} /etc/systemd/system/postrider*`);
  must('pg_dropcluster', '15', 'main');
  must('pg_createcluster', '15', 'main');
}

async function untilSent(id: string): Promise<void> {
  const until = performance.now() + ARRIVAL_MS;
  const status = async () => (await api<{ status: string }>('GET', `/email/logs/${id}`)).status;
  while ((await status()) !== 'delivered') {
    assert.ok(performance.now() < until, `${id} is not delivered`);
    await pause(200);
  }
}

function arrivals(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { envelope_to } of sink.messages)
    for (const to of envelope_to) if (/^r\d+@/.test(to)) counts.set(to, (counts.get(to) ?? 0) + 1);
  return counts;
}

function startProxy(): Promise<Program> {
  mkdirSync(join(tree, 'run/haproxy'), { recursive: true });
  const configuration = '/opt/postrider/current/deploy/haproxy/haproxy.cfg';
  return startProgram({
    command: 'chroot',
    args: [tree, 'haproxy', '-db', '-f', configuration],
    env: { POSTRIDER_BIND: '127.0.0.1:8080' },
    log: join(tree, 'var/log/haproxy.log'),
    ready: async () => existsSync(join(tree, 'run/haproxy/admin.sock')),
  });
}

async function system(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('chroot', [tree, 'systemctl', ...args]);
}

async function untilReady(url: string): Promise<void> {
  const until = performance.now() + ARRIVAL_MS;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    assert.ok(performance.now() < until, `${url} is not ready`);
    await pause(100);
  }
}

function printLogs(): void {
  const folder = join(tree, 'var/log');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.log') && !/^(dpkg|alternatives)/.test(name)))
    console.error(`--- ${file}\n${readFileSync(join(folder, file), 'utf8').slice(-3000)}`);
}
