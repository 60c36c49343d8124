import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killLeftOvers, startServer } from '../server-process.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };
const hello = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

let data_dir: string;
beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'postrider-owner-'));
  // Postgres may run as a different user.
  await chmod(data_dir, 0o755);
});
afterAll(async () => {
  await killLeftOvers();
  await rm(data_dir, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('real R22: the embedded Postgres stops when its server is killed, and the email survives the next start', async () => {
  const env = { DATA_DIR: data_dir, BOOTSTRAP_API_KEY: `pr_live_${randomBytes(32).toString('hex')}` };
  const first = await startServer(env);
  const sent = await first.call('POST', '/v1/email/send', { body: hello });
  expect(sent.status, sent.text).toBe(202);
  const postmaster = Number(readFileSync(join(data_dir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
  expect(isAlive(postmaster)).toBe(true);

  await first.kill();

  await expect.poll(() => isAlive(postmaster), PATIENCE).toBe(false);
  const second = await startServer(env);
  expect((await second.call('GET', `/v1/email/logs/${sent.body.id}`)).status).toBe(200);
  await second.end();
});
