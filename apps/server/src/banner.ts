import { type Provisioned, SANDBOX_DOMAIN } from '@postrider/core/workspaces';
import type { Running } from './start.ts';

const MOST_LEFTOVERS = 5;

/** The text printed after a start: URLs, new secrets, and a first mail to paste. */
export function banner(running: Running): string {
  const { url, provisioned, services, ports } = running;
  const { config } = services;
  const captures = config.DELIVERY.some((transport) => transport.kind === 'capture');
  const lines = ['', `Postrider is ready at ${url}`, ''];
  const row = (name: string, value: string) => lines.push(rowOf(name, value));
  if (config.ROLES.includes('admin')) {
    const link = running.login_link;
    row('Dashboard', link === null ? url : `${link}  (signs in, once, within 15 minutes)`);
  }
  if (config.ROLES.includes('rest')) row('REST API', `${url}/v1`);
  if (config.ROLES.includes('admin')) row('GraphQL', `${url}/graphql  (try it at ${url}/graphiql)`);
  if (config.ROLES.includes('admin') && captures) row('Captured mail', `${url}/inbox`);
  if (ports.capture !== null) row('SMTP capture', `${config.HOST}:${ports.capture}`);
  if (ports.inbound !== null) row('Bounces', `${config.HOST}:${ports.inbound}`);
  for (const port of ports.submission) row('Submission', `${config.HOST}:${port}`);
  if (ports.metrics !== null) row('Metrics', `http://127.0.0.1:${ports.metrics}/metrics`);
  if (running.worker_count === 0)
    row('Workers', 'none is alive: mail waits until a process with worker in ROLES starts');
  else if (!config.ROLES.includes('worker')) row('Workers', `${running.worker_count} alive in other processes`);
  lines.push(...secretRows(provisioned));
  if (config.ROLES.includes('admin') && provisioned.operator === null)
    row('Operator', 'shown at the first start; npx postrider operators login-link makes a new link');
  if (config.BOOTSTRAP_API_KEY) row('API key', 'the one in BOOTSTRAP_API_KEY');
  else if (provisioned.api_key === null)
    row('API key', 'shown at the first start; npx postrider keys create --local creates another');
  else if (captures && config.ROLES.includes('rest')) {
    lines.push('', '  Send the first mail:', '', firstMail(url, provisioned.api_key));
  }
  lines.push(...leftoverLines(running.leftovers), '', '  Ctrl-C stops it; the data stays.', '');
  return lines.join('\n');
}

/** New secrets, shown once; also if the start failed after creating them. */
export function secretRows({ operator, api_key }: Provisioned): string[] {
  const password = operator?.password ? `  password ${operator.password}  (shown once)` : '';
  return [
    ...(operator ? [rowOf('Operator', `${operator.email}${password}`)] : []),
    ...(api_key === null ? [] : [rowOf('API key', `${api_key}  (shown once)`)]),
  ];
}

function leftoverLines(leftovers: Running['leftovers']): string[] {
  if (leftovers.length === 0) return [];
  const shown = leftovers.slice(0, MOST_LEFTOVERS).map((one) => `    ${one.directory}, made for ${one.made_for}`);
  const more = leftovers.length - shown.length;
  return [
    '',
    '  Databases that no data directory refers to any more:',
    ...shown,
    ...(more > 0 ? [`    and ${more} more`] : []),
    '  npx postrider databases shows what each takes; with --remove DIRECTORY it deletes one.',
  ];
}

function rowOf(name: string, value: string): string {
  return `  ${name.padEnd(15)}${value}`;
}

function firstMail(url: string, key: string): string {
  const body = JSON.stringify({
    from: `Postrider <hello@${SANDBOX_DOMAIN}>`,
    to: 'you@example.com',
    subject: 'My first mail',
    text: 'It works.',
  });
  return `curl ${url}/v1/email/send -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}
