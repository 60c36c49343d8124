import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readUnit, type Unit } from './unit-file.ts';

const run = promisify(execFile);
const POLL_MS = 20;
const STOP_MS = 35_000;
const RESTART_MS = 2000;
const REQUESTS = '/run/unit-runner';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The program in the tree that hands its arguments over and waits for the result. */
const SYSTEMCTL = `#!/bin/sh
request=${REQUESTS}/$$
printf '%s\\n' "$@" > "$request.part"
mv "$request.part" "$request.request"
while [ ! -e "$request.code" ]; do sleep 0.02; done
cat "$request.out"
code=$(cat "$request.code")
rm -f "$request".*
exit "$code"
`;

interface Service {
  readonly unit: Unit;
  child: ChildProcess;
  wanted: boolean;
}

/** The commands that start and stop a service of the distribution, by the name of its unit. */
export type Others = ReadonlyMap<
  string,
  { readonly start: readonly [string, ...string[]]; readonly stop: readonly [string, ...string[]] }
>;

/** Stands in for systemd in a tree without an init: it starts the shipped units under their users and capabilities. */
export class UnitRunner {
  readonly #tree: string;
  readonly #others: Others;
  readonly #services = new Map<string, Service>();
  readonly #enabled = new Set<string>();
  #open = true;
  readonly #loop: Promise<void>;
  /** Units that ended without being stopped. */
  readonly crashes: string[] = [];

  constructor(tree: string, others: Others) {
    this.#tree = tree;
    this.#others = others;
    mkdirSync(join(tree, REQUESTS), { recursive: true });
    const program = join(tree, 'usr/bin/systemctl');
    writeFileSync(program, SYSTEMCTL);
    chmodSync(program, 0o755);
    this.#loop = this.#serve();
  }

  pidOf(name: string): number | undefined {
    return this.#services.get(name)?.child.pid;
  }

  async stop(): Promise<void> {
    this.#open = false;
    await this.#loop;
    await Promise.all([...this.#services.keys()].map((name) => this.#stop(name)));
  }

  async #serve(): Promise<void> {
    const folder = join(this.#tree, REQUESTS);
    while (this.#open) {
      for (const file of readdirSync(folder).filter((one) => one.endsWith('.request'))) {
        const base = join(folder, file.replace(/\.request$/, ''));
        renameSync(`${base}.request`, `${base}.taken`);
        const words = readFileSync(`${base}.taken`, 'utf8').trim().split('\n');
        const { code, out } = await this.#answer(words).catch((error: unknown) => ({ code: 1, out: `${error}\n` }));
        writeFileSync(`${base}.out`, out);
        writeFileSync(`${base}.code.part`, String(code));
        renameSync(`${base}.code.part`, `${base}.code`);
      }
      await pause(POLL_MS);
    }
  }

  async #answer(words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
    const [verb = '', ...rest] = words.filter((word) => !word.startsWith('--'));
    const names = rest.flatMap((name) => this.#named(name));
    const done = { code: 0, out: '' };
    if (verb === 'daemon-reload') return done;
    if (verb === 'list-units') {
      const active = [...this.#services.keys()].filter((name) => this.#isActive(name)).toSorted();
      return { code: 0, out: active.map((name) => `${name} loaded active running Postrider\n`).join('') };
    }
    if (verb === 'is-enabled') return { ...done, code: names.every((name) => this.#enabled.has(name)) ? 0 : 1 };
    if (verb === 'is-active') return { ...done, code: names.every((name) => this.#isActive(name)) ? 0 : 3 };
    for (const name of names) {
      if (verb === 'enable') this.#enabled.add(name);
      if (verb === 'stop' || verb === 'restart') await this.#stop(name);
      if (verb === 'start' || verb === 'restart' || (verb === 'enable' && words.includes('--now')))
        await this.#start(name);
    }
    return ['enable', 'stop', 'start', 'restart'].includes(verb)
      ? done
      : { code: 1, out: `systemctl ${verb} has no stand-in\n` };
  }

  /** Returns the units that a name stands for; a pattern stands for those that were started. */
  #named(name: string): string[] {
    if (!name.endsWith('*')) return [name.endsWith('.service') ? name : `${name}.service`];
    return [...this.#services.keys()].filter((one) => one.startsWith(name.slice(0, -1)));
  }

  #isActive(name: string): boolean {
    const service = this.#services.get(name);
    return service?.wanted === true && service.child.exitCode === null && service.child.signalCode === null;
  }

  async #start(name: string): Promise<void> {
    const other = this.#others.get(name);
    if (other) return void (await run('chroot', [this.#tree, ...other.start]));
    if (this.#isActive(name)) return;
    const unit = readUnit(this.#tree, name);
    for (const { path, mode } of unit.folders) {
      const options = ['-d', '-m', mode, '-o', unit.user, '-g', unit.user, path];
      await run('chroot', [this.#tree, 'install', ...options]);
    }
    for (const command of unit.starts_before) {
      const [program = '', ...args] = this.#command(unit, command);
      await run(program, args);
    }
    const [program = '', ...args] = this.#command(unit, unit.start);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = join(this.#tree, `var/log/${name}.log`);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => appendFileSync(log, chunk));
    const service: Service = { unit, child, wanted: true };
    this.#services.set(name, service);
    child.once('exit', (code, signal) => {
      if (!service.wanted) return;
      service.wanted = false;
      this.crashes.push(`${name} ended with ${code ?? signal}`);
      setTimeout(() => this.#open && void this.#start(name).catch(() => {}), RESTART_MS).unref();
    });
    for (const command of unit.starts_after) {
      const [after = '', ...after_args] = this.#command(unit, command, { MAINPID: String(child.pid) });
      await run(after, after_args, { timeout: unit.start_ms }).catch(async (error: unknown) => {
        await this.#stop(name);
        throw error;
      });
    }
  }

  async #stop(name: string): Promise<void> {
    const other = this.#others.get(name);
    if (other) return void (await run('chroot', [this.#tree, ...other.stop]));
    const service = this.#services.get(name);
    if (!service) return;
    const { child } = service;
    service.wanted = false;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(late);
  }

  /** Enters the tree as the unit's user, with its capabilities and nothing but its environment. */
  #command(unit: Unit, command: readonly string[], of_systemd: Readonly<Record<string, string>> = {}): string[] {
    const capabilities = ['-all', ...unit.capabilities.map((capability) => `+${capability}`)].join(',');
    const variables = Object.entries({ PATH, HOME: '/var/lib/postrider', ...of_systemd, ...unit.environment });
    return [
      ...['chroot', this.#tree, 'setpriv', `--reuid=${unit.user}`, `--regid=${unit.user}`, '--init-groups'],
      ...[`--bounding-set=${capabilities}`, `--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`],
      ...['--no-new-privs', 'env', `--chdir=${unit.folder}`, '-i', ...variables.map((pair) => pair.join('='))],
      ...command,
    ];
  }
}
