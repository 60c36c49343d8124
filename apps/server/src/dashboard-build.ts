import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type DashboardState, readBuiltFiles } from '@postrider/admin';
import type { Log } from '@postrider/core';
import { builtFolder, HASH_FILE, hashSources } from '@postrider/dashboard/build';

const TURBO = fileURLToPath(new URL('../../../scripts/turbo.mjs', import.meta.url));
const SHOWN_OUTPUT = 4000;
const NOT_BUILT = 'The dashboard is not built. Run: npm ci && npm run build --workspace=@postrider/dashboard';

export interface Dashboard {
  current(): DashboardState;
  stop(): Promise<void>;
}

export function openDashboard(builds: boolean, log: Log): Dashboard {
  return builds ? buildDashboard(log) : builtDashboard();
}

/** Serves the dashboard as it is on disk, for example in an image. */
function builtDashboard(): Dashboard {
  const files = readBuiltFiles(builtFolder, HASH_FILE);
  const state: DashboardState = files ? { kind: 'ready', files } : { kind: 'failed', why: NOT_BUILT };
  return { current: () => state, stop: async () => undefined };
}

/**
 * Builds the dashboard while the server runs if its sources have changed since the last build. A failed build is
 * reported on the page and in the log, but the server keeps running.
 */
function buildDashboard(log: Log): Dashboard {
  const built = builtDashboard();
  const state = built.current();
  if (state.kind === 'ready' && state.files.release === hashSources()) return built;
  let current: DashboardState = { kind: 'building' };
  let output = '';
  const child = spawn(
    process.execPath,
    [TURBO, 'run', 'build', '--filter=@postrider/dashboard', '--output-logs=full'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // Messages sent during the first minute take priority over the build.
  if (child.pid !== undefined) setPriorityQuietly(child.pid);
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-SHOWN_OUTPUT);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exit = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
    });
    child.once('close', (code) => {
      const files = code === 0 ? readBuiltFiles(builtFolder, HASH_FILE) : null;
      if (files) current = { kind: 'ready', files };
      else {
        current = { kind: 'failed', why: output.trim() || `The build exited with code ${code}.` };
        log.error({ output: output.trim(), code }, 'failed to build the dashboard');
      }
      resolve();
    });
  });
  return {
    current: () => current,
    async stop() {
      child.kill();
      await exit;
    },
  };
}

function setPriorityQuietly(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {
    // Some systems do not allow changing a process's priority.
  }
}
