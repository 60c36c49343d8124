import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from './program.ts';

const CONFIGURATIONS = fileURLToPath(new URL('../../deploy/haproxy/', import.meta.url));

export interface Haproxy {
  /** Returns the state of each server of a backend, by name. */
  servers(backend: string): Promise<Map<string, { readonly up: boolean; readonly sessions: number }>>;
  stop(): Promise<void>;
}

/** Runs a configuration of deploy/haproxy unchanged, with these addresses. */
export async function startHaproxy(
  configuration: string,
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<Haproxy> {
  const socket = join(folder, `${configuration}.sock`);
  const program = await startProgram({
    command: 'haproxy',
    args: ['-db', '-f', join(CONFIGURATIONS, configuration)],
    env: { ...env, POSTRIDER_HAPROXY_SOCKET: socket },
    log: join(folder, `${configuration}.log`),
    ready: async () => (await ask(socket, 'show info')).includes('Name: HAProxy'),
  });
  return {
    async servers(backend) {
      const [head = '', ...lines] = (await ask(socket, 'show stat')).trim().split('\n');
      const names = head.replace(/^# /, '').split(',');
      const rows = lines.map((line) => line.split(','));
      const field = (row: readonly string[], name: string) => row[names.indexOf(name)] ?? '';
      return new Map(
        rows
          .filter((row) => field(row, 'pxname') === backend && !['BACKEND', 'FRONTEND'].includes(field(row, 'svname')))
          .map((row) => [
            field(row, 'svname'),
            { up: field(row, 'status').startsWith('UP'), sessions: Number(field(row, 'stot')) },
          ]),
      );
    },
    stop: () => program.stop(),
  };
}

async function ask(path: string, command: string): Promise<string> {
  const socket = connect(path);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(`${command}\n`);
  await once(socket, 'close');
  return text;
}
