import { invoke, readConfig } from '@postrider/core';
import { examineMachine } from '@postrider/core/doctor';
import { program_name } from '@postrider/core/program';
import { connect, pendingMigrations } from '@postrider/db';
import type { Command } from 'commander';
import { z } from 'zod';
import { createClient, request, serviceUrl } from '../connect/client.ts';
import { problemOf } from '../terminal/problem.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';
import { isInstalledHere, localUrl, withDatabase, withMachine } from './machine.ts';

interface Check {
  readonly name: string;
  readonly result: 'ok' | 'failed' | 'warning' | 'skipped';
  readonly message: string;
  /** How to fix the problem. */
  readonly fix?: string;
}

const readiness = z.looseObject({
  status: z.string(),
  database: z.string(),
  migrations: z.string(),
  roles: z.record(z.string(), z.record(z.string(), z.boolean())),
});

export function addDoctor(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description('check this machine, its database and network, the service and the API key')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const checks = [
        // This command would not have started on a Node that is too old.
        { name: 'node', result: 'ok', message: process.versions.node } as const,
        ...(await attempt(['database', 'migrations'], () => checkDatabase(terminal))),
        ...(await attempt(['machine'], () => checkMachine(terminal))),
        ...(await attempt(['service'], () => checkService(terminal))),
        ...(await attempt(['public_url'], () => checkPublicUrl(terminal))),
        ...(await attempt(['key'], () => checkKey(terminal))),
      ];
      const healthy = checks.every((check) => check.result !== 'failed');
      show(terminal, options.json, { healthy, checks }, () =>
        table(checks.map(({ name, result, message, fix }) => [result, name, fix ? `${message} ${fix}` : message])),
      );
      if (!healthy) terminal.fail();
    });
}

/** Runs a group of checks. If it throws, the first check counts as failed and the others are left out. */
async function attempt(names: readonly [string, ...string[]], look: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    const { message: words, advice } = problemOf(error)?.facts ?? {};
    const message = [words ?? (error instanceof Error ? error.message : String(error)), advice]
      .filter(Boolean)
      .join(' ');
    return [{ name: names[0], result: 'failed', message }];
  }
}

async function checkDatabase(terminal: Terminal): Promise<Check[]> {
  const config = readConfig(terminal.env);
  if (!isInstalledHere(config)) {
    const message = `no DATABASE_URL and no database in ${config.DATA_DIR}: nothing is installed here`;
    return [{ name: 'database', result: 'skipped', message }];
  }
  return withDatabase(config, async (url) => {
    const sql = connect(url, { max: 1, application_name: 'postrider-doctor' });
    try {
      const pending = await pendingMigrations(sql);
      const location = config.DATABASE_URL ? 'DATABASE_URL' : `embedded in ${config.DATA_DIR}`;
      return [
        { name: 'database', result: 'ok', message: location },
        pending.length === 0
          ? { name: 'migrations', result: 'ok', message: 'current' }
          : {
              name: 'migrations',
              result: 'failed',
              message: `missing ${pending.join(', ')}; run ${program_name} migrate`,
            },
      ];
    } finally {
      await sql.end({ timeout: 2 });
    }
  });
}

const resultOf = { ok: 'ok', skipped: 'skipped', warning: 'warning', failing: 'failed' } as const;

/** Runs core's checks of the machine; skipped unless the database responds and is migrated. */
async function checkMachine(terminal: Terminal): Promise<Check[]> {
  if (!isInstalledHere(readConfig(terminal.env))) return [];
  return withMachine(terminal, async ({ asWorkspace }) => {
    const { checks } = await invoke(await asWorkspace(), examineMachine, {});
    return checks
      .filter(({ name }) => name !== 'migrations')
      .map(({ name, status, detail, fix }) => ({
        name,
        result: resultOf[status],
        message: detail,
        ...(fix !== null && { fix }),
      }));
  });
}

async function checkService(terminal: Terminal): Promise<Check[]> {
  const config = readConfig(terminal.env);
  const url = isInstalledHere(config) ? localUrl(terminal, config) : serviceUrl(terminal);
  const response = await request(url, `${url}/readyz`, {});
  const parsed = readiness.safeParse(await response.json().catch(() => null));
  if (!parsed.success) {
    return [{ name: 'service', result: 'failed', message: `${url} is not Postrider; check POSTRIDER_URL` }];
  }
  const { status, database, migrations, roles } = parsed.data;
  const states = Object.entries(roles).map(
    ([role, can]) => `${role} ${Object.values(can).every(Boolean) ? 'ok' : 'not ok'}`,
  );
  const facts = [`${url} ${status}`, `database ${database}`, `migrations ${migrations}`, ...states];
  return [{ name: 'service', result: response.ok ? 'ok' : 'failed', message: facts.join(', ') }];
}

/** Checks that the address that links and emails name leads to the service. */
async function checkPublicUrl(terminal: Terminal): Promise<Check[]> {
  const config = readConfig(terminal.env);
  if (config.PUBLIC_URL === undefined || !isInstalledHere(config)) return [];
  const url = config.PUBLIC_URL;
  const answers = await request(url, `${url}/readyz`, {}).then(
    async (response) => readiness.safeParse(await response.json().catch(() => null)).success,
    () => false,
  );
  return [
    answers
      ? { name: 'public_url', result: 'ok', message: `${url} leads to Postrider` }
      : {
          name: 'public_url',
          // Some networks do not let a machine reach its own public address.
          result: 'warning',
          message: `${url} does not lead to Postrider from this machine.`,
          fix: 'If it does not from outside either, correct PUBLIC_URL or the proxy in front of Postrider.',
        },
  ];
}

async function checkKey(terminal: Terminal): Promise<Check[]> {
  if (!terminal.env.POSTRIDER_API_KEY)
    return [{ name: 'key', result: 'skipped', message: 'POSTRIDER_API_KEY is not set' }];
  try {
    await createClient(terminal).email.logs({ limit: 1 });
    return [{ name: 'key', result: 'ok', message: 'accepted' }];
  } catch (error) {
    // The log request was denied only for its scope, so the key itself is valid.
    if (problemOf(error)?.facts.reason !== 'missing_scope') throw error;
    return [{ name: 'key', result: 'ok', message: 'valid, but without the scope to read logs' }];
  }
}
