import { program_name } from '@postrider/core/program';
import { SANDBOX_DOMAIN } from '@postrider/core/workspaces';
import type { FirstSecrets, SecretOutput } from './first-start.ts';
import type { Running } from './start.ts';

const MAX_LEFTOVERS = 5;
/** The level of the log's own lines. */
const INFO = 30;

/** Returns the text printed after startup: URLs, new secrets, and a first email to paste. */
export function banner(running: Running, secrets: FirstSecrets): string {
  const { url } = running;
  const { api_key } = secrets;
  const first_email = api_key !== null && offersFirstEmail(running) ? firstEmail(url, api_key) : null;
  return [
    '',
    `Postrider is ready at ${url}`,
    '',
    ...rowsOf(running, secrets).map(textOf),
    ...(first_email === null ? [] : ['', '  Send your first email:', '', first_email]),
    ...leftoverLines(running.leftovers),
    '',
    '  Press Ctrl-C to stop. Your data is kept.',
    '',
  ].join('\n');
}

/** Returns the same facts as one line of the log, whose field names are those of the banner. */
export function bannerLine(running: Running, secrets: FirstSecrets): string {
  const facts: Record<string, string> = {};
  for (const { name, value } of rowsOf(running, secrets)) {
    const field = name.toLowerCase().replaceAll(' ', '_');
    facts[field] = field in facts ? `${facts[field]}, ${value}` : value;
  }
  const msg = `Postrider is ready at ${running.url}`;
  return JSON.stringify({ level: INFO, time: running.services.clock.now(), ...facts, msg });
}

interface Row {
  readonly name: string;
  readonly value: string;
}

function rowsOf(running: Running, secrets: FirstSecrets): Row[] {
  const { provisioned, services, ports } = running;
  const { config, public_url } = services;
  const rows: Row[] = [];
  const row = (name: string, value: string) => rows.push({ name, value });
  if (config.ROLES.includes('admin')) row('Dashboard', dashboardAt(public_url, secrets.login_link));
  if (config.ROLES.includes('rest')) row('REST API', `${public_url}/v1`);
  if (config.ROLES.includes('admin')) row('GraphQL', `${public_url}/graphql  (try it at ${public_url}/graphiql)`);
  if (config.ROLES.includes('admin') && captures(config)) row('Test inbox', `${public_url}/emails/test-inbox`);
  if (ports.capture !== null) row('SMTP capture', `${config.HOST}:${ports.capture}`);
  if (ports.inbound !== null) row('Bounces', `${config.HOST}:${ports.inbound}`);
  for (const port of ports.submission) row('Submission', `${config.HOST}:${port}`);
  if (ports.metrics !== null) row('Metrics', `http://127.0.0.1:${ports.metrics}/metrics`);
  if (running.worker_count === 0)
    row('Workers', 'none running; email is queued until a process with worker in ROLES starts');
  else if (!config.ROLES.includes('worker')) row('Workers', `${running.worker_count} running in other processes`);
  rows.push(...secretRows(provisioned.operator?.email ?? null, secrets));
  if (config.ROLES.includes('admin') && provisioned.operator === null)
    row('Operator', `shown on the first start; for a new sign-in link, run ${program_name} operators login-link`);
  if (config.BOOTSTRAP_API_KEY) row('API key', 'from BOOTSTRAP_API_KEY');
  else if (secrets.api_key === null)
    row('API key', `shown on the first start; to create another, run ${program_name} keys create --local`);
  return rows;
}

function offersFirstEmail({ services: { config } }: Running): boolean {
  return captures(config) && config.ROLES.includes('rest') && !config.BOOTSTRAP_API_KEY;
}

function captures({ DELIVERY }: Running['services']['config']): boolean {
  return DELIVERY.some((transport) => transport.kind === 'capture');
}

function secretRows(operator: string | null, { api_key, password }: FirstSecrets): Row[] {
  const secret = password === null ? '' : `  password ${placeText(password)}`;
  return [
    ...(operator === null ? [] : [{ name: 'Operator', value: `${operator}${secret}` }]),
    ...(api_key === null ? [] : [{ name: 'API key', value: placeText(api_key) }]),
  ];
}

/** Formats the new secrets of a startup that failed after creating them. */
export function secretLines(operator: string | null, secrets: FirstSecrets): string[] {
  return secretRows(operator, secrets).map(textOf);
}

function placeText(secret: SecretOutput): string {
  return 'file' in secret ? `in ${secret.file}` : `${secret.value}  (shown once)`;
}

function dashboardAt(url: string, link: SecretOutput | null): string {
  if (link === null) return url;
  const once = 'sign-in link, works once, expires in 15 minutes';
  return 'file' in link ? `${url}  (${once}: ${link.file})` : `${link.value}  (${once})`;
}

function leftoverLines(leftovers: Running['leftovers']): string[] {
  if (leftovers.length === 0) return [];
  const lines = leftovers.slice(0, MAX_LEFTOVERS).map((one) => `    ${one.directory}, created for ${one.made_for}`);
  const more = leftovers.length - lines.length;
  return [
    '',
    '  Unused databases:',
    ...lines,
    ...(more > 0 ? [`    and ${more} more`] : []),
    `  To see their size, run ${program_name} databases. To delete one, add --remove DIRECTORY.`,
  ];
}

function textOf({ name, value }: Row): string {
  return `  ${name.padEnd(15)}${value}`;
}

/** Returns a command that works when pasted. */
function firstEmail(url: string, key: SecretOutput): string {
  const body = JSON.stringify({
    from: `Postrider <hello@${SANDBOX_DOMAIN}>`,
    to: 'you@example.com',
    subject: 'My first email',
    text: 'It works.',
  });
  const bearer =
    'file' in key ? `"Authorization: Bearer $(cat '${key.file}')"` : `'Authorization: Bearer ${key.value}'`;
  return `curl ${url}/v1/email/send -H ${bearer} -H 'Content-Type: application/json' -d '${body}'`;
}
