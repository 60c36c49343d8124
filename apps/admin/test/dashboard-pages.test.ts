import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBuiltFiles } from '../src/index.ts';
import type { DashboardState } from '../src/pages/dashboard/dashboard-routes.ts';
import { type AdminServer, startAdmin } from './admin-server.ts';

const SCRIPT = 'console.log("the dashboard")';

let world: World;
let admin: AdminServer;
let folder: string;
let state: DashboardState;
const asBrowser = { accept: 'text/html,*/*;q=0.8' };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postrider-built-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html>\n<html lang="en"><body>start</body></html>');
  await writeFile(join(folder, 'assets/main-1234.js'), SCRIPT);
  await writeFile(join(folder, 'assets/main-1234.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(folder, 'sources.txt'), 'release-1\n');
  world = await createWorld();
  admin = await startAdmin(world.services, () => state);
  const files = readBuiltFiles(folder, 'sources.txt');
  if (files) state = { kind: 'ready', files };
});
afterAll(async () => {
  await admin.stop();
  await world.stop();
  await rm(folder, { recursive: true });
});

async function during(other: DashboardState, run: () => Promise<void>): Promise<void> {
  const before = state;
  state = other;
  await run().finally(() => {
    state = before;
  });
}

describe('the built dashboard', () => {
  it('is served at the root and on each of its paths, without inline scripts or styles', async () => {
    for (const path of ['/', '/emails/msg_1', '/login?next=/emails', '/login/link/abc']) {
      const response = await admin.get(path, asBrowser);

      expect(response.status).toBe(200);
      expect(response.text).toContain('start');
      expect(response.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-dashboard-release': 'release-1',
        'x-content-type-options': 'nosniff',
      });
      expect(response.headers['content-security-policy']).not.toContain('unsafe');
      expect(response.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
  });

  it('returns a JSON 404 to a program that requests a missing page', async () => {
    for (const [path, headers] of [
      ['/emails/msg_1', {}],
      ['/assets/none.js', asBrowser],
      ['/graphql/none', asBrowser],
    ] as const) {
      const response = await admin.get(path, headers);

      expect(response.status).toBe(404);
      expect(JSON.parse(response.text)).toMatchObject({ error: { reason: 'route_not_found' } });
    }
  });

  it('serves compressed files to browsers that support compression, and lets them cache the files forever', async () => {
    const plain = await admin.get('/assets/main-1234.js');
    const packed = await admin.get('/assets/main-1234.js', { 'accept-encoding': 'gzip' });

    expect(plain.text).toBe(SCRIPT);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(Number(packed.headers['content-length'])).toBe(gzipSync(SCRIPT).length);
  });

  it('starts in the theme set by the cookie, and ignores an unknown theme', async () => {
    const themed = async (cookie: string) => /data-theme="(\w+)"/.exec((await admin.get('/', { cookie })).text)?.[1];

    expect(await themed('theme=dark')).toBe('dark');
    expect(await themed('theme="><script>')).toBe('system');
    expect(await themed('')).toBe('system');
  });
});

describe('a dashboard that has not been built yet', () => {
  it('shows that the build is in progress, and reloads automatically', () =>
    during({ kind: 'building' }, async () => {
      const response = await admin.get('/emails', asBrowser);

      expect([response.status, response.headers.refresh]).toEqual([503, '1']);
      expect(response.text).toContain('reloads automatically');
    }));

  it('shows why the build failed, and still lets people sign in', () =>
    during({ kind: 'failed', why: 'vite <broke>' }, async () => {
      const response = await admin.get('/');
      const login = await admin.get('/login', asBrowser);

      expect(response.status).toBe(503);
      expect(response.text).toContain('vite &lt;broke&gt;');
      expect(login.status).toBe(200);
      expect(login.text).toContain('<form method="post" action="/login">');
    }));
});
