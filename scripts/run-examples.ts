// Runs the tests of the programs in examples against a running instance.
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installExample } from './example-packages.ts';
import { type Instance, root } from './instance.ts';

// A framework's example is built first.
const EXAMPLE_TIMEOUT_MS = 240_000;

interface Package {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** The folders in examples that are programs. */
export const examples: readonly string[] = globSync('*/package.json', { cwd: join(root, 'examples') })
  .map((file) => dirname(file))
  .filter((name) => scriptsOf(name).includes('test'))
  .sort();

function scriptsOf(name: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'examples', name, 'package.json'), 'utf8')) as Package;
  return Object.keys(manifest.scripts ?? {});
}

/** Returns what its test printed if it failed; null if it passed. */
export async function runExample(name: string, instance: Instance): Promise<string | null> {
  installExample(name);
  const { url } = instance;
  // The samples of the pages have used the instance's own key up to its rate limit.
  const key = await createKey(name, instance);
  const child = spawn('npm', ['test', '--silent'], {
    cwd: join(root, 'examples', name),
    // Without this process's other settings, as on a reader's machine.
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: process.env.HOME,
      POSTRIDER_URL: url,
      POSTRIDER_API_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // With the programs that it has started.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), EXAMPLE_TIMEOUT_MS);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return code === 0 ? null : `it ended with ${code}:\n${out}`;
}

async function createKey(name: string, { url, key }: Instance): Promise<string> {
  const scopes = ['email:send', 'email:logs:read', 'webhooks:manage', 'admin', 'operator'];
  const response = await fetch(`${url}/v1/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, scopes }),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { secret: string }).secret;
}

const LINES = [
  'npm ci',
  'export POSTRIDER_API_KEY=pr_live_…',
  'export POSTRIDER_URL=http://localhost:3000 POSTRIDER_API_KEY=pr_live_…',
  'export WEBHOOK_SECRET=whsec_…',
];

/** Throws if a README's block names a folder or script that does not exist, or has other commands. */
export function checkCommands(text: string): void {
  const [first = '', ...lines] = text.trim().split('\n');
  const [, name] = /^cd examples\/([a-z-]+)$/.exec(first) ?? [];
  if (name === undefined || !examples.includes(name)) throw new Error(`no program: ${first}`);
  for (const line of lines) {
    if (LINES.includes(line)) continue;
    const [, script] = /^npm (?:run )?([a-z]+)(?: -- --port \d+)?$/.exec(line) ?? [];
    if (script === undefined || !scriptsOf(name).includes(script)) throw new Error(`no command of ${name}: ${line}`);
  }
}
