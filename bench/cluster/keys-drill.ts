import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runAll } from '@postrider/core';
import { type SmtpSink, startSmtpSink } from '@postrider/testing';
import { freePort } from '@postrider/testing/free-port';
import { atMost, check } from '../faults/check.ts';
import { runCommand } from '../faults/processes.ts';
import { wallTime } from '../faults/wall-time.ts';
import { openBehindHaproxy, untilUp } from './behind-haproxy.ts';
import { Clients } from './clients.ts';
import type { Drill } from './drill.ts';
import { type Installation, SENDER } from './installation.ts';
import { need } from './needs.ts';
import { copiesOf, drain, longestGap, mailChecks, printChecks } from './outcome.ts';
import { addAuthenticator, signsIn } from './second-factor.ts';

const PER_SECOND = 60;
/** The maximum for a workspace. */
const WEBHOOKS = 10;
const CALM_MS = 3000;
const REENCRYPTED_MS = 60_000;
const RELAYED = 'relayed.example';
const LOGIN = { user: 'relay', pass: randomBytes(12).toString('hex') };

/** SECRET_KEY replaced on every process in turn, under load: first alongside the previous key, then alone. */
export const keysDrill: Drill = {
  about:
    'SECRET_KEY replaced on two API and two worker processes in turn, under load, until the old key decrypts nothing',
  async run({ folder, say: print }) {
    need('haproxy');
    const stops: (() => Promise<void>)[] = [];
    try {
      const { ledgers, installation, database, haproxy, bind, apis, workers } = await openBehindHaproxy(stops, {
        drain: '2s',
        folder,
      });
      const slots = [...apis, ...workers];
      const { secret } = installation;
      const relay = await startSmtpSink({ login: LOGIN });
      stops.unshift(() => relay.stop());
      await addTransport(installation, folder, relay.port);
      const { ADMIN_EMAIL: email = '', ADMIN_PASSWORD: password = '' } = installation.env;
      const totp_secret = await withAdmin(installation, {}, (port) => addAuthenticator(port, { email, password }));
      for (let index = 0; index < WEBHOOKS; index++) await addWebhook(bind, secret, index);
      const clients = new Clients(ledgers, { port: bind, secret, per_second: PER_SECOND, keyed: 0.5 });
      print(
        `${PER_SECOND} messages per second, ${WEBHOOKS} webhooks, a transport with a password and a feedback secret, an authenticator app`,
      );
      await pause(CALM_MS);

      const old_key = installation.env.SECRET_KEY ?? '';
      const SECRET_KEY = randomBytes(32).toString('hex');
      const inTurn = async (extra: Readonly<Record<string, string>>) => {
        for (const slot of slots) {
          await slot.restart(extra);
          await slot.untilReady();
          await untilUp(haproxy, ['api-1', 'api-2']);
        }
      };
      await inTurn({ SECRET_KEY, SECRET_KEY_PREVIOUS: old_key });
      print('all processes run with the new and the old key');
      const reencrypted = await untilReencrypted(folder);
      print('everything is encrypted with the new key');
      await inTurn({ SECRET_KEY_PREVIOUS: '' });
      print('all processes run with the new key only');
      await pause(CALM_MS);
      await clients.stop();
      await drain(database);
      print(`${ledgers.accepted.length} of ${ledgers.sent.length} accepted; longest gap ${longestGap(ledgers)} ms`);
      const second = [...copiesOf(ledgers).values()].filter((copies) => copies > 1).length;
      const email_checks = mailChecks(ledgers, await database.read('none'));
      const is_relayed = await sendThrough(relay, bind, secret);
      const new_env = { SECRET_KEY, SECRET_KEY_PREVIOUS: '' };
      const is_signed_in = await withAdmin(installation, new_env, (port) =>
        signsIn(port, { email, password }, totp_secret),
      );
      const failure = await installation
        .open('old', 'rest', await freePort(), { SECRET_KEY: old_key })
        .untilReady()
        .then(
          () => '',
          (error: unknown) => String(error),
        );
      return printChecks('keys', [
        ...email_checks,
        check(
          'requests that failed',
          clients.failures.map(({ what: problem }) => problem),
        ),
        atMost('duplicates', second, 0),
        check('the transport password is lost', is_relayed ? [] : ['no email arrived']),
        check('the authenticator secret is lost', is_signed_in ? [] : ['its code did not sign in']),
        check('no worker reported that everything is encrypted with the new key', reencrypted ? [] : ['none']),
        check(
          'the old key still decrypts stored secrets',
          failure.includes('SECRET_KEY cannot decrypt') ? [] : [failure],
        ),
      ]);
    } finally {
      await runAll('the drill', stops);
    }
  },
};

/** Creates a transport with a password, for email to one domain. */
async function addTransport({ env }: Installation, folder: string, port: number): Promise<void> {
  const [password, rules] = ['password', 'rules.json'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(password, LOGIN.pass);
  writeFileSync(rules, JSON.stringify([{ destination: RELAYED, transports: ['Relay'] }]));
  const relay = ['--host', '127.0.0.1', '--port', String(port), '--tls', 'none', '--username', LOGIN.user];
  await runCommand(['transports', 'create', 'Relay', ...relay, '--password-file', password, '--local'], env);
  await runCommand(['transports', 'set-rules', rules, '--local'], env);
  await runCommand(['transports', 'set-feedback', 'Relay', '--provider', 'generic', '--local'], env);
}

/** Does something with a process that serves the dashboard, for as long as it takes. */
async function withAdmin<T>(
  installation: Installation,
  env: Readonly<Record<string, string>>,
  action: (port: number) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const slot = installation.open('admin', 'admin', port, env);
  await slot.untilReady();
  try {
    return await action(port);
  } finally {
    await slot.stop();
  }
}

/** Returns whether an email through the transport arrives. */
async function sendThrough(relay: SmtpSink, port: number, secret: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: `a@${SENDER}`, to: `ada@${RELAYED}`, subject: 'Relayed', text: 'Relayed' }),
  });
  await response.text();
  return relay.waitFor(1).then(
    () => true,
    () => false,
  );
}

async function addWebhook(port: number, secret: string, index: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `https://hooks${index}.example.com/postrider`, events: ['email.complained'] }),
  });
  if (!response.ok) throw new Error(`no webhook was created: ${response.status} ${await response.text()}`);
}

async function untilReencrypted(folder: string): Promise<boolean> {
  const done = (name: string) =>
    readFileSync(join(folder, `${name}.log`), 'utf8').includes('all secrets are encrypted with SECRET_KEY');
  for (const until = wallTime() + REENCRYPTED_MS; wallTime() < until; await pause(100))
    if (['worker-1', 'worker-2'].some(done)) return true;
  return false;
}
