import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImageConfig } from './buildah.ts';

export interface Container {
  /** Runs the service's health check inside it, and returns whether the check passed. */
  check(): Promise<boolean>;
  /** Waits until the health check passes; returns the milliseconds since the start. */
  healthy(): Promise<number>;
  /**
   * Waits until /readyz returns 200, and returns the milliseconds since the start. The health check passes later,
   * because it starts its own program.
   */
  ready(): Promise<number>;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
  /** Returns the CPU time used so far, in milliseconds. */
  cpu(): number;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
}

export interface ContainerOptions {
  readonly tree: string;
  readonly config: ImageConfig;
  /** What the engine runs in the container, after CMD; it passes with 0. */
  readonly health_check: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly read_only: boolean;
}

const POLL_MS = 20;
// A tick in /proc is a hundredth of a second on Linux.
const TICK_MS = 10;
const GIVE_UP_MS = 60_000;

/**
 * Mounts the tree in its own mount namespace, with the files that Docker mounts over it, then switches to the image's
 * user, without capabilities or a way to gain any. $0 is the tree, $1 rw or ro, $2 the user, $3 the folder, then env
 * and program.
 */
const ENTER = `
set -e
tree=$0; mode=$1; user=$2; folder=$3; shift 3
mount --bind "$tree" "$tree"
for name in proc dev; do mount --rbind "/$name" "$tree/$name"; done
for name in resolv.conf hosts; do mount --bind "/etc/$name" "$tree/etc/$name"; done
mount -t tmpfs -o mode=1777,size=64m tmpfs "$tree/tmp"
mount -o remount,bind,$mode "$tree"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$tree" setpriv --reuid "$user" --regid 0 --clear-groups \\
  --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs sh -c 'cd "$1"; shift; exec env -i "$@"' sh "$folder" "$@"
`;

export function startContainer(options: ContainerOptions): Container {
  const { config } = options;
  const port = options.env.PORT ?? '3000';
  const started = performance.now();
  const child = enter(options, options.command ?? config.Cmd);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exit = once(child, 'close').then(([code]) => code as number | null);
  const check = async () => {
    const [kind, ...command] = options.health_check;
    if (kind !== 'CMD') throw new Error(`the health check is ${kind}, and this runs CMD`);
    const [code] = await once(enter(options, command), 'close');
    return code === 0;
  };
  const until = async (isThere: () => Promise<boolean>): Promise<number> => {
    while (performance.now() - started < GIVE_UP_MS && child.exitCode === null) {
      if (await isThere()) return performance.now() - started;
      await pause(POLL_MS);
    }
    throw new Error(`the container was not ready in time and said:\n${output}`);
  };
  return {
    check,
    healthy: () => until(check),
    ready: () =>
      until(() =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    async stop() {
      child.kill('SIGTERM');
      return exit;
    },
    cpu() {
      const [, user, system] = /^(?:\S+ ){13}(\d+) (\d+)/.exec(readFileSync(`/proc/${child.pid}/stat`, 'utf8')) ?? [];
      return (Number(user) + Number(system)) * TICK_MS;
    },
    ended: exit,
    output: () => output,
  };
}

function enter({ tree, config, env, read_only }: ContainerOptions, command: readonly string[]) {
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const { User, WorkingDir } = config;
  const args = ['-m', '--propagation', 'private', 'sh', '-c', ENTER, tree, read_only ? 'ro' : 'rw', User, WorkingDir];
  return spawn('unshare', [...args, ...variables, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
}
