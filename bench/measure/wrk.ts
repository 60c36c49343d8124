import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Load, type LoadResult, runLoad } from './load.ts';

// wrk needs a tenth of the CPU time of a socket loop in Node, and so does pgbench, which generates the load for the
// baseline. On few cores, a heavier load generator would slow the product down.

let is_installed: boolean | null = null;

/**
 * Generates closed-loop load, with wrk if it is installed. wrk only distinguishes 2xx, shown as 202, from all other
 * responses.
 */
export function runSends(load: Load): Promise<LoadResult> {
  // `wrk --version` may exit with 1; only its absence counts.
  is_installed ??= spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined;
  return is_installed ? runWrk(load, typeof load.port === 'number' ? [load.port] : load.port) : runLoad(load);
}

/** Runs the closed loop of runLoad with wrk: one process per port, each with its share of the connections. */
async function runWrk(load: Load, ports: readonly number[]): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-wrk-'));
  const script = join(folder, 'requests.lua');
  writeFileSync(script, lua(load.requests));
  try {
    const share = Math.max(1, Math.floor(load.connections / ports.length));
    const reports = await Promise.all(ports.map((port) => report(port, share, load.seconds, script)));
    const sum = (read: (text: string) => number) => reports.reduce((total, text) => total + read(text), 0);
    const rejected = sum((text) => Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0));
    const request_count = sum((text) => Number(/(\d+) requests in/.exec(text)?.[1]));
    return {
      rate: sum((text) => Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1])),
      p50_ms: Math.max(...reports.map((text) => latency(text, '50%'))),
      p99_ms: Math.max(...reports.map((text) => latency(text, '99%'))),
      statuses: new Map([[202, request_count - rejected], ...(rejected > 0 ? [[0, rejected] as const] : [])]),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(port: number, connections: number, seconds: number, script: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, `http://127.0.0.1:${port}`];
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.once('error', reject);
  child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`wrk ended with ${code}`))));
  return promise;
}

function latency(text: string, rank: string): number {
  const [, value = '', unit = ''] = new RegExp(`${rank}\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN);
}

/** Returns a script that sends complete requests in rotation. */
function lua(requests: readonly Buffer[]): string {
  const literals = requests.map((request) => `"${escaped(request)}"`);
  return `local requests = {${literals.join(',')}}
local turn = 0
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`;
}

function escaped(request: Buffer): string {
  return request
    .toString('latin1')
    .replace(/[^ !#-[\]-~]/g, (char) => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`);
}
