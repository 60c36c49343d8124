import { spawn } from 'node:child_process';

/**
 * Waits until the pipe from the parent closes, which happens however the parent dies. Then stops the server, unless
 * another process uses it. $1 is the directory of the process records, $2 the data directory. A process that has died
 * may remain visible until its parent reaps it.
 */
const GUARD = `
read -r _
used() {
  for record in "$1"/*; do
    pid=$(head -n 1 "$record" 2>/dev/null)
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; then return 0; fi
  done
  return 1
}
for _ in 1 2 3; do
  if ! used "$1"; then
    pid=$(head -n 1 "$2/postmaster.pid" 2>/dev/null)
    if [ -n "$pid" ]; then kill -INT "$pid" 2>/dev/null; fi
    exit 0
  fi
  sleep 1
done
`;

/** Keeps a server from outliving this process. The returned function removes the guard. */
export function guardServer(holders: string, data: string): () => void {
  if (process.platform === 'win32') return () => undefined;
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', holders, data], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    // Runs in its own process group: Ctrl-C must not kill the guard before its parent.
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return () => guard.kill('SIGKILL');
}
