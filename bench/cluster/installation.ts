import { randomBytes } from 'node:crypto';
import { createEncryption } from '@postrider/core';
import { insertProvenDomain } from '@postrider/core/domains';
import { connect } from '@postrider/db';
import { testPairs } from '@postrider/testing';
import { freePort } from '@postrider/testing/free-port';
import type { Ledgers } from '../faults/ledgers.ts';
import { type MailSink, startMailSink } from '../faults/mail-sink.ts';
import { openSlot, runCommand, type Slot } from '../faults/processes.ts';
import { wallTime } from '../faults/wall-time.ts';

export const SENDER = 'mail.cluster.test';

/** The shipped program in several processes, delivering to a mail server that records everything. */
export interface Installation {
  readonly secret: string;
  /** The environment of every process, and of commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly mail: MailSink;
  /** Starts a process with one role; the port may be one that a proxy already knows. */
  open(name: string, role: 'rest' | 'worker' | 'admin', port: number, env?: Readonly<Record<string, string>>): Slot;
  stop(): Promise<void>;
}

export interface InstallationOptions {
  /** The database URL for the processes. */
  readonly database_url: string;
  /** The database URL for the drill itself. */
  readonly direct_url: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly folder: string;
}

export async function openInstallation(ledgers: Ledgers, options: InstallationOptions): Promise<Installation> {
  const { database_url, direct_url, folder } = options;
  const mail = await startMailSink(ledgers, 'cluster');
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const env = {
    DATABASE_URL: database_url,
    SECRET_KEY: randomBytes(32).toString('hex'),
    BOOTSTRAP_API_KEY: secret,
    ADMIN_EMAIL: 'operator@cluster.test',
    ADMIN_PASSWORD: randomBytes(12).toString('hex'),
    DELIVERY: `smtp://127.0.0.1:${mail.port}`,
    RETURN_PATH_DOMAIN: 'bounces.cluster.test',
    RETRY_SCHEDULE: '1s,2s,4s,8s,15s,30s,60s',
    LOG_LEVEL: 'info',
    ...options.env,
  };
  const slots: Slot[] = [];
  const stop = async () => {
    await Promise.all(slots.map((slot) => slot.stop()));
    await mail.stop();
  };
  const open: Installation['open'] = (name, ROLES, port, extra = {}) => {
    const slot = openSlot(ledgers, {
      name,
      port,
      metrics_port: null,
      env: { ...env, ROLES, ...extra },
      log_folder: folder,
    });
    slots.push(slot);
    return slot;
  };
  try {
    await runCommand(['migrate'], env);
    // The first process creates the workspace and the key.
    const first = open('first', 'rest', await freePort());
    await first.untilReady();
    const sql = connect(direct_url, { max: 1, application_name: 'postrider-drill' });
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces order by id limit 1`;
    const domain = { workspace_id: workspace?.id ?? '', name: SENDER, sandbox: false };
    await sql.begin((tx) => insertProvenDomain(tx, createEncryption(env.SECRET_KEY), domain, testPairs, wallTime()));
    await sql.end();
    await first.stop();
    slots.splice(0);
  } catch (error) {
    await stop();
    throw error;
  }
  return { secret, env, mail, open, stop };
}
