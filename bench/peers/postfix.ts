import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@postrider/testing/free-port';

// A private Postfix instance as a peer, with queue, log and keys in its own folder, on loopback ports. It requires
// Debian's packages postfix, opendkim and opendkim-tools, and root, as Postfix does.

export interface Postfix {
  /** The submission port; messages are relayed to the receiver's port. */
  readonly port: number;
  /** The root processes of Postfix, including the signer's. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const PROGRAM_FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'];
const DAEMONS = ['/usr/lib/postfix/sbin', '/usr/libexec/postfix', '/usr/lib/postfix'];
const START_MS = 10_000;

export function findProgram(name: string): string | null {
  return PROGRAM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Returns why this machine cannot run the peer, or null if it can. */
export function postfixProblem(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'Postfix starts for root on Linux only';
  const missing = ['postfix', 'smtp-source', 'opendkim', 'opendkim-genkey'].filter((name) => !findProgram(name));
  return missing.length === 0 ? null : `not installed: ${missing.join(', ')}`;
}

/**
 * Starts Postfix tuned for throughput: client rate limits off, fifty connections to the one destination from the start.
 * With a signer, every message passes through OpenDKIM as a milter with an RSA-2048 key.
 */
export async function startPostfix(receiver_port: number, signed: boolean): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-postfix-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  for (const name of ['etc', 'queue', 'data']) mkdirSync(join(folder, name));
  execFileSync('chown', ['postfix', join(folder, 'data')]);
  const signer = signed ? await startSigner(folder) : null;
  writeFileSync(join(folder, 'etc/main.cf'), mainSettings(folder, receiver_port, signer?.socket ?? null));
  writeFileSync(join(folder, 'etc/master.cf'), serviceTable(port));
  execFileSync(findProgram('postfix') ?? 'postfix', ['-c', join(folder, 'etc'), 'start'], { stdio: 'ignore' });
  const master = await readPid(join(folder, 'queue/pid/master.pid'));
  const pids = signer ? [master, signer.pid] : [master];
  return {
    port,
    pids,
    async stop() {
      for (const pid of pids) process.kill(pid, 'SIGTERM');
      for (const pid of pids) while (existsSync(`/proc/${pid}`)) await delay(20);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function mainSettings(folder: string, receiver_port: number, milter: string | null): string {
  const settings: Record<string, string> = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    command_directory: '/usr/sbin',
    daemon_directory: DAEMONS.find((path) => existsSync(join(path, 'master'))) ?? '',
    maillog_file: join(folder, 'mail.log'),
    maillog_file_prefixes: folder,
    myhostname: 'peer.example.com',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    relayhost: `[127.0.0.1]:${receiver_port}`,
    disable_dns_lookups: 'yes',
    smtp_tls_security_level: 'none',
    alias_maps: '',
    local_recipient_maps: '',
    in_flow_delay: '0',
    default_process_limit: '200',
    initial_destination_concurrency: '50',
    default_destination_concurrency_limit: '50',
    smtpd_client_connection_count_limit: '0',
    smtpd_client_restrictions: '',
    smtpd_peername_lookup: 'no',
    qmgr_message_active_limit: '50000',
    qmgr_message_recipient_limit: '50000',
    ...(milter !== null && { smtpd_milters: milter, milter_default_action: 'tempfail' }),
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** Returns Postfix's services without chroots and without local delivery. */
function serviceTable(port: number): string {
  const rows = [
    [`127.0.0.1:${port}`, 'inet', 'n', '-', 'smtpd'],
    ['pickup', 'unix', 'n', '1', 'pickup', '60'],
    ['cleanup', 'unix', 'n', '0', 'cleanup'],
    ['qmgr', 'unix', 'n', '1', 'qmgr', '300'],
    ['rewrite', 'unix', '-', '-', 'trivial-rewrite'],
    ['bounce', 'unix', '-', '0', 'bounce'],
    ['defer', 'unix', '-', '0', 'bounce'],
    ['trace', 'unix', '-', '0', 'bounce'],
    ['verify', 'unix', '-', '1', 'verify'],
    ['flush', 'unix', 'n', '0', 'flush', '1000?'],
    ['proxymap', 'unix', '-', '-', 'proxymap'],
    ['tlsmgr', 'unix', '-', '1', 'tlsmgr', '1000?'],
    ['anvil', 'unix', '-', '1', 'anvil'],
    ['scache', 'unix', '-', '1', 'scache'],
    ['smtp', 'unix', '-', '-', 'smtp'],
    ['relay', 'unix', '-', '-', 'smtp'],
    ['error', 'unix', '-', '-', 'error'],
    ['retry', 'unix', '-', '-', 'error'],
    ['discard', 'unix', '-', '-', 'discard'],
    ['postlog', 'unix-dgram', 'n', '1', 'postlogd'],
  ] as const;
  return rows
    .map(([name, type, isPrivate, max_processes, program, wakeup = '-']) =>
      [name, type, isPrivate, '-', 'n', wakeup, max_processes, program].join(' '),
    )
    .join('\n')
    .concat('\n');
}

async function startSigner(folder: string): Promise<{ readonly socket: string; readonly pid: number }> {
  const keys = join(folder, 'keys');
  mkdirSync(keys);
  execFileSync('opendkim-genkey', ['-b', '2048', '-d', 'mail.example.com', '-s', 'bench', '-D', keys]);
  chownSync(join(keys, 'bench.private'), 0, 0);
  const socket = join(folder, 'signer.sock');
  const settings = {
    Mode: 's',
    Domain: 'mail.example.com',
    Selector: 'bench',
    KeyFile: join(keys, 'bench.private'),
    Canonicalization: 'relaxed/relaxed',
    Socket: `local:${socket}`,
    UMask: '000',
    UserID: 'root',
    Syslog: 'no',
    RequireSafeKeys: 'no',
  };
  const file = join(folder, 'opendkim.conf');
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  );
  const child = spawn('opendkim', ['-f', '-x', file], { stdio: 'ignore' });
  await waitFor(() => existsSync(socket), 'opendkim');
  return { socket: `unix:${socket}`, pid: child.pid ?? 0 };
}

async function readPid(file: string): Promise<number> {
  const read = () => (existsSync(file) ? Number.parseInt(readFileSync(file, 'latin1').trim(), 10) : Number.NaN);
  await waitFor(() => read() > 0, 'postfix');
  return read();
}

async function waitFor(isThere: () => boolean, name: string): Promise<void> {
  const started = performance.now();
  while (!isThere()) {
    if (performance.now() - started > START_MS) throw new Error(`${name} did not start`);
    await delay(20);
  }
}
