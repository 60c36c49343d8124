import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { listenNear, listenOn } from './ports.ts';

let data_dir: string;
let open: Server[];
beforeEach(() => {
  data_dir = mkdtempSync(join(tmpdir(), 'postrider-ports-'));
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((server) => new Promise((done) => server.close(done))));
  rmSync(data_dir, { recursive: true, force: true });
});

async function listen(port: number): Promise<{ readonly port: number }> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.on('error', fail).listen(port, '127.0.0.1', done));
  open.push(server);
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

/** Finds a port to stand in for the usual one: the usual ports may be in use on this machine. */
async function freePort(): Promise<number> {
  const { port } = await listen(0);
  writeFileSync(join(data_dir, 'ports.json'), JSON.stringify({ CAPTURE_PORT: port }));
  return port;
}

describe('a port that is not configured (newcomer N9)', () => {
  it('is the next free port if the default is busy, and stays the same after a restart', async () => {
    const busy = await freePort();
    const config = readConfig({ DATA_DIR: data_dir });

    const { port } = await listenNear(config, 'CAPTURE_PORT', listen);
    await new Promise((done) => open.pop()?.close(done));
    await new Promise((done) => open.pop()?.close(done));
    const second = await listenNear(config, 'CAPTURE_PORT', listen);

    expect(port).toBeGreaterThan(busy);
    expect(port).toBeLessThan(busy + 100);
    expect(second.port).toBe(port);
    expect(JSON.parse(readFileSync(join(data_dir, 'ports.json'), 'utf8'))).toEqual({ CAPTURE_PORT: port });
  });

  it('is saved only if the database is embedded', async () => {
    await freePort();
    const config = readConfig({ DATA_DIR: data_dir, DATABASE_URL: 'postgres://x/y', SECRET_KEY: 'k'.repeat(32) });
    const ports: number[] = [];
    const failTwice = async (port: number) => {
      ports.push(port);
      if (ports.length < 3) throw Object.assign(new Error('busy'), { code: 'EADDRINUSE' });
      return { port };
    };

    await listenNear(config, 'CAPTURE_PORT', failTwice);

    expect(ports).toEqual([1025, 1026, 1027]);
  });

  it('falls back to the default if the saved port cannot be read', async () => {
    writeFileSync(join(data_dir, 'ports.json'), '{"INBOUND_PORT":"x"');

    const { port } = await listenNear(readConfig({ DATA_DIR: data_dir }), 'INBOUND_PORT', async (port) => ({ port }));

    expect(port).toBe(2525);
  });

  it('aborts startup if the error has any other cause', async () => {
    const denied = async () => Promise.reject(Object.assign(new Error('denied'), { code: 'EACCES' }));

    await expect(listenNear(readConfig({ DATA_DIR: data_dir }), 'PORT', denied)).rejects.toThrow('denied');
  });
});

describe('a configured port', () => {
  it('aborts startup if it is busy, and the error names the variable', async () => {
    const { port } = await listen(0);
    const config = readConfig({ DATA_DIR: data_dir, CAPTURE_PORT: String(port) });

    await expect(listenNear(config, 'CAPTURE_PORT', listen)).rejects.toThrow(`CAPTURE_PORT ${port} is in use`);
    await expect(listenOn('METRICS_PORT', port, listen)).rejects.toThrow(`METRICS_PORT ${port} is in use`);
  });
});
