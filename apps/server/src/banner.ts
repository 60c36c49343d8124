import { SANDBOX_DOMAIN } from '@postrider/core/workspaces';
import type { Running } from './start.ts';

/** What a person sees when the start is done: where things are, the secrets once, and a first mail to paste. */
export function banner(running: Running): string {
  const { url, provisioned, services, capture_port } = running;
  const { config } = services;
  const captures = config.DELIVERY.some((transport) => transport.kind === 'capture');
  const lines = ['', `Postrider is ready at ${url}`, ''];
  const row = (name: string, value: string) => lines.push(`  ${name.padEnd(15)}${value}`);
  if (config.ROLES.includes('rest')) row('REST API', `${url}/v1`);
  if (config.ROLES.includes('admin') && captures) row('Captured mail', `${url}/captured`);
  if (capture_port !== null) row('SMTP capture', `${config.HOST}:${capture_port}`);
  if (provisioned.operator) {
    row(
      'Operator',
      `${provisioned.operator.email}${provisioned.operator.password ? `  password ${provisioned.operator.password}  (shown once)` : ''}`,
    );
  }
  if (provisioned.api_key) {
    row('API key', `${provisioned.api_key}  (shown once)`);
    if (captures && config.ROLES.includes('rest'))
      lines.push('', '  Send the first mail:', '', firstMail(url, provisioned.api_key));
  } else {
    row('API key', 'shown at the first start; npm run cli -- keys create --local makes another');
  }
  lines.push('', '  Ctrl-C stops it; the data stays.', '');
  return lines.join('\n');
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
