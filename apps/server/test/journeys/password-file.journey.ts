import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';
import { launch, type ServerProcess } from '../server-process.ts';

const ROLE = 'postrider_rotated';
const EMAILS = 200;
const CHANGE_AT = [50, 120];
let journey: Journey;
let server: ServerProcess;
let folder: string;
let file: string;
let url: string;
beforeAll(async () => {
  journey = await openJourney();
  folder = await mkdtemp(join(tmpdir(), 'postrider-password-'));
  file = join(folder, 'password');
  await journey.sql.unsafe(`drop role if exists ${ROLE}; create role ${ROLE} superuser login`);
  await setPassword('the first one');
  const address = new URL(journey.env.DATABASE_URL ?? '');
  address.username = ROLE;
  address.password = '';
  url = address.href;
  server = await journey.start({ DATABASE_URL: url, DATABASE_PASSWORD_FILE: file });
});
afterAll(async () => {
  await journey?.sql.unsafe(`drop role if exists ${ROLE}`).catch(() => undefined);
  await journey?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function setPassword(password: string): Promise<void> {
  await writeFile(`${file}.new`, `${password}\n`);
  await journey.sql.unsafe(`alter role ${ROLE} password '${password}'`);
  await rename(`${file}.new`, file);
}

/**
 * Closes the connections of every pool so that all later ones use the current password. Returns the names of the pools
 * whose connections were closed.
 */
async function cutConnections(): Promise<Set<string>> {
  const rows = await journey.sql<{ application_name: string }[]>`
    select application_name, pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = ${ROLE}`;
  return new Set(rows.map((row) => row.application_name));
}

async function connected(): Promise<string[]> {
  const rows = await journey.sql<{ application_name: string }[]>`
    select distinct application_name from pg_stat_activity where datname = current_database() and usename = ${ROLE}`;
  return rows.map((row) => row.application_name);
}

it('a database password changed under load requires no restart, and no email is lost', async () => {
  const ids = new Set<string>();
  const cut: Promise<void>[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (let number = next++; number < EMAILS; number = next++) {
        for (;;) {
          const body = { ...hello, to: `to${number}@example.com` };
          const headers = { 'idempotency-key': `key-${number}` };
          const response = await server.call('POST', '/v1/email/send', { body, headers });
          if (response.status === 202) {
            ids.add(String(response.body.id));
            const change = CHANGE_AT.indexOf(ids.size);
            if (change >= 0)
              cut.push(
                setPassword(`another one ${change}`).then(async () => {
                  expect([...(await cutConnections())]).toEqual(
                    expect.arrayContaining(['postrider', 'postrider-accept']),
                  );
                }),
              );
            break;
          }
          expect(response.status).toBe(500);
          await pause(20);
        }
      }
    }),
  );
  await Promise.all(cut);

  expect(cut).toHaveLength(CHANGE_AT.length);
  expect(ids.size).toBe(EMAILS);
  await expect.poll(() => statesOf(journey.sql)).toEqual({ delivered: EMAILS });
  // pg-boss has its own driver, and also connects with the latest password.
  await cutConnections();
  await expect.poll(connected).toEqual(expect.arrayContaining(['postrider', 'postrider-queue']));
  await expect.poll(async () => (await server.call('GET', '/readyz')).status).toBe(200);
});

it('a start without the password file, or with two passwords, reports what to change', async () => {
  const start = async (env: Readonly<Record<string, string>>) => {
    const started = launch({ ...journey.env, DATABASE_URL: url, ...env });
    expect((await started.exited).code).toBe(1);
    return started.stderr();
  };

  expect(await start({ DATABASE_PASSWORD_FILE: join(folder, 'absent') })).toContain('Create it first');
  const two = new URL(url);
  two.password = 'one';
  expect(await start({ DATABASE_URL: two.href, DATABASE_PASSWORD_FILE: file })).toContain(
    'Remove the one in DATABASE_URL',
  );
});
