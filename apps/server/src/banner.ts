import { SANDBOX_DOMAIN } from '@postrider/core/workspaces';
import type { FirstSecrets, SecretOutput } from './first-start.ts';
import type { Running } from './start.ts';

const MAX_LEFTOVERS = 5;

/** Returns the text printed after startup: URLs, new secrets, and a first email to paste. */
export function banner(running: Running, secrets: FirstSecrets): string {
  const { url, provisioned, services, ports } = running;
  const { config } = services;
  const captures = config.DELIVERY.some((transport) => transport.kind === 'capture');
  const lines = ['', `Postrider is ready at ${url}`, ''];
  const row = (name: string, value: string) => lines.push(rowOf(name, value));
  if (config.ROLES.includes('admin')) row('Dashboard', dashboardAt(url, secrets.login_link));
  if (config.ROLES.includes('rest')) row('REST API', `${url}/v1`);
  if (config.ROLES.includes('admin')) row('GraphQL', `${url}/graphql  (try it at ${url}/graphiql)`);
  if (config.ROLES.includes('admin') && captures) row('Test inbox', `${url}/emails/test-inbox`);
  if (ports.capture !== null) row('SMTP capture', `${config.HOST}:${ports.capture}`);
  if (ports.inbound !== null) row('Bounces', `${config.HOST}:${ports.inbound}`);
  for (const port of ports.submission) row('Submission', `${config.HOST}:${port}`);
  if (ports.metrics !== null) row('Metrics', `http://127.0.0.1:${ports.metrics}/metrics`);
  if (running.worker_count === 0)
    row('Workers', 'none running; email is queued until a process with worker in ROLES starts');
  else if (!config.ROLES.includes('worker')) row('Workers', `${running.worker_count} running in other processes`);
  lines.push(...secretRows(provisioned.operator?.email ?? null, secrets));
  if (config.ROLES.includes('admin') && provisioned.operator === null)
    row('Operator', 'shown on the first start; for a new sign-in link, run npx postrider operators login-link');
  if (config.BOOTSTRAP_API_KEY) row('API key', 'from BOOTSTRAP_API_KEY');
  else if (secrets.api_key === null)
    row('API key', 'shown on the first start; to create another, run npx postrider keys create --local');
  else if (captures && config.ROLES.includes('rest')) {
    lines.push('', '  Send your first email:', '', firstEmail(url, secrets.api_key));
  }
  lines.push(...leftoverLines(running.leftovers), '', '  Press Ctrl-C to stop. Your data is kept.', '');
  return lines.join('\n');
}

/** Formats new secrets. Also used if startup failed after creating them. */
export function secretRows(operator: string | null, { api_key, password }: FirstSecrets): string[] {
  const secret = password === null ? '' : `  password ${placeText(password)}`;
  return [
    ...(operator === null ? [] : [rowOf('Operator', `${operator}${secret}`)]),
    ...(api_key === null ? [] : [rowOf('API key', placeText(api_key))]),
  ];
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
    '  To see their size, run npx postrider databases. To delete one, add --remove DIRECTORY.',
  ];
}

function rowOf(name: string, value: string): string {
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
