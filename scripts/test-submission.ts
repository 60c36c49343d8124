// npm run test:submission: runs mail programs against a running instance, each with the settings from
// docs/submission.md. The script tries the programs installed on this machine and lists the others; PYTHON is the
// interpreter that has Django.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { mailCertificate } from '@postrider/testing';
import { freePort } from '@postrider/testing/free-port';
import { createTransport } from 'nodemailer';
import { drillBlocks } from './doc-blocks.ts';
import { startInstance } from './instance.ts';

const SEND_MS = 30_000;
const ARRIVE_TRIES = 60;
const python = process.env.PYTHON ?? 'python3';
const folder = mkdtempSync(join(tmpdir(), 'postrider-submission-'));
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
writeFileSync(cert, mailCertificate.cert);
writeFileSync(key, mailCertificate.key);
const ports = { starttls: await freePort(), implicit: await freePort() };
const values: Readonly<Record<string, string>> = {
  SUBMISSION_PORT: String(ports.starttls),
  SUBMISSIONS_PORT: String(ports.implicit),
  TLS_CERT_FILE: cert,
  TLS_KEY_FILE: key,
};
// The settings are the page's, with free ports and the certificate of this test.
const [START = ''] = drillBlocks('docs/submission.md', 'test:submission');
const names = [...START.matchAll(/(\w+)=\S+/g)].map(([, name = '']) => name);
const instance = await startInstance(Object.fromEntries(names.map((name) => [name, values[name] ?? ''])));

interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Client {
  readonly name: string;
  /** A command that prints something if the program is on this machine. */
  readonly there: readonly [program: string, ...args: string[]] | null;
  send(subject: string): Run | Promise<unknown>;
}

const from = 'shop@sandbox.test';
const to = 'ada@example.com';
const mail = (subject: string) => `From: Shop <${from}>\nTo: ${to}\nSubject: ${subject}\n\nHi\n`;
const nodemailer = (options: object) => (subject: string) =>
  createTransport({
    host: '127.0.0.1',
    auth: { user: 'api', pass: instance.key },
    tls: { rejectUnauthorized: false },
    ...options,
  }).sendMail({ from, to, subject, text: 'Hi' });
const swaks = (port: number, ...flags: string[]) => ({
  there: ['swaks', '--version'] as const,
  send: (subject: string): Run => ({
    program: 'swaks',
    args: [
      ...['--server', `127.0.0.1:${port}`, '--from', from, '--to', to, '--header', `Subject: ${subject}`],
      ...['--auth-user', 'api', '--auth-password', instance.key, ...flags],
    ],
  }),
});
const msmtp = (port: number, ...flags: string[]) => ({
  there: ['msmtp', '--version'] as const,
  send: (subject: string): Run => ({
    program: 'msmtp',
    args: [
      ...['--host=127.0.0.1', `--port=${port}`, '--auth=plain', '--user=api', `--passwordeval=echo ${instance.key}`],
      ...['--tls=on', '--tls-certcheck=off', `--from=${from}`, ...flags, to],
    ],
    stdin: mail(subject),
  }),
});
const script = (lines: readonly string[], needs: readonly string[] = []) => ({
  there: [python, '-c', ['import sys', ...needs, 'print(sys.version)'].join('\n')] as const,
  send: (subject: string): Run => ({
    program: python,
    args: ['-c', lines.join('\n')],
    env: { SUBJECT: subject, KEY: instance.key },
  }),
});
const smtplib = (opens: string) => [
  'import os, smtplib, ssl',
  'from email.message import EmailMessage',
  'context = ssl._create_unverified_context()',
  'mail = EmailMessage()',
  `mail["From"], mail["To"], mail["Subject"] = "${from}", "${to}", os.environ["SUBJECT"]`,
  'mail.set_content("Hi")',
  `with ${opens} as server:`,
  ...(opens.includes('SMTP_SSL') ? [] : ['    server.starttls(context=context)']),
  '    server.login("api", os.environ["KEY"])',
  '    server.send_message(mail)',
];
const django = (port: number, secured: string) => [
  'import os, ssl',
  'from django.conf import settings',
  `settings.configure(EMAIL_HOST="127.0.0.1", EMAIL_PORT=${port}, EMAIL_HOST_USER="api",`,
  `    EMAIL_HOST_PASSWORD=os.environ["KEY"], ${secured}=True)`,
  'import django',
  'from django.core.mail import send_mail',
  'from django.core.mail.backends.smtp import EmailBackend',
  '# The certificate of this test has no issuer that a machine trusts.',
  'EmailBackend.ssl_context = ssl._create_unverified_context()',
  'django.setup()',
  `assert send_mail(os.environ["SUBJECT"], "Hi", "${from}", ["${to}"]) == 1`,
];

const clients: readonly Client[] = [
  { name: 'nodemailer, STARTTLS', there: null, send: nodemailer({ port: ports.starttls, requireTLS: true }) },
  { name: 'nodemailer, TLS', there: null, send: nodemailer({ port: ports.implicit, secure: true }) },
  { name: 'swaks, STARTTLS and PLAIN', ...swaks(ports.starttls, '--tls', '--auth', 'PLAIN') },
  { name: 'swaks, STARTTLS and LOGIN', ...swaks(ports.starttls, '--tls', '--auth', 'LOGIN') },
  { name: 'swaks, TLS', ...swaks(ports.implicit, '--tlsc', '--auth', 'PLAIN') },
  { name: 'msmtp, STARTTLS', ...msmtp(ports.starttls, '--tls-starttls=on') },
  { name: 'msmtp, TLS', ...msmtp(ports.implicit, '--tls-starttls=off') },
  { name: 'smtplib of Python, STARTTLS', ...script(smtplib(`smtplib.SMTP("127.0.0.1", ${ports.starttls})`)) },
  {
    name: 'smtplib of Python, TLS',
    ...script(smtplib(`smtplib.SMTP_SSL("127.0.0.1", ${ports.implicit}, context=context)`)),
  },
  { name: 'Django, EMAIL_USE_TLS', ...script(django(ports.starttls, 'EMAIL_USE_TLS'), ['import django']) },
  { name: 'Django, EMAIL_USE_SSL', ...script(django(ports.implicit, 'EMAIL_USE_SSL'), ['import django']) },
  {
    name: 'Laravel',
    // Laravel sends through Symfony's mailer; LARAVEL is an application's folder.
    there: ['php', '-r', 'echo is_file(getenv("LARAVEL") . "/vendor/autoload.php") ? "yes" : "";'],
    send: (subject: string): Run => ({
      program: 'php',
      args: [
        '-r',
        `require getenv("LARAVEL") . "/vendor/autoload.php";
         $to = "smtp://api:" . getenv("KEY") . "@127.0.0.1:${ports.starttls}?verify_peer=0";
         (new Symfony\\Component\\Mailer\\Mailer(Symfony\\Component\\Mailer\\Transport::fromDsn($to)))->send(
           (new Symfony\\Component\\Mime\\Email())->from("${from}")->to("${to}")->subject(getenv("SUBJECT"))->text("Hi"));`,
      ],
      env: { SUBJECT: subject, KEY: instance.key },
    }),
  },
];

function isThere({ there: probe }: Client): boolean {
  if (probe === null) return true;
  const { status, stdout } = spawnSync(probe[0], probe.slice(1), { encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '';
}

function run({ program, args, stdin = '', env = {} }: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, timeout: SEND_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim().slice(-500)))));
    child.stdin.end(stdin);
  });
}

/**
 * Waits for a limited time until the message with a subject is delivered. Returns its last status, or null if no
 * message has the subject.
 */
async function statusOf(subject: string): Promise<string | null> {
  let status: string | null = null;
  for (let tries = 0; tries < ARRIVE_TRIES && status !== 'delivered'; tries++) {
    if (tries > 0) await pause(250);
    const response = await fetch(`${instance.url}/v1/email/logs?limit=100`, {
      headers: { authorization: `Bearer ${instance.key}` },
    });
    const { data } = (await response.json()) as { data: { subject: string; status: string }[] };
    status = data.find((one) => one.subject === subject)?.status ?? null;
  }
  return status;
}

let failures = 0;
try {
  for (const [index, client] of clients.entries()) {
    if (!isThere(client)) {
      console.log(`absent ${client.name}`);
      continue;
    }
    const subject = `Mail ${index} of a mail program`;
    try {
      const sending = client.send(subject);
      await ('program' in sending ? run(sending) : sending);
      const status = await statusOf(subject);
      if (status !== 'delivered') throw new Error(`its mail is ${status ?? 'not in the log'}`);
      console.log(`ok     ${client.name}`);
    } catch (error) {
      failures += 1;
      console.log(`FAILED ${client.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
} finally {
  await instance.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
