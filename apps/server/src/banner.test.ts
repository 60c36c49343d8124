import type { Config } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { bannerLine, banner as bannerOf } from './banner.ts';
import type { FirstSecrets } from './first-start.ts';
import type { Running } from './start.ts';

const world = await openWorld();
const NONE: FirstSecrets = { api_key: null, password: null, login_link: null };
const banner = (run: Running, secrets: Partial<FirstSecrets> = {}) => bannerOf(run, { ...NONE, ...secrets });

describe('the banner', () => {
  it('shows the GraphQL URL and a page for trying it out', () => {
    const text = banner(running(['rest', 'admin']));

    expect(text).toContain(
      '  GraphQL        http://localhost:3000/graphql  (try it at http://localhost:3000/graphiql)',
    );
  });

  it('prints the sign-in link as the dashboard address while the link is valid', () => {
    const value = 'http://localhost:3000/login/link/abc';

    expect(banner(running(['rest', 'admin']), { login_link: { value } })).toContain(
      `  Dashboard      ${value}  (sign-in link, works once, `,
    );
    expect(banner(running(['rest', 'admin']))).toContain('  Dashboard      http://localhost:3000\n');
  });

  it('fairness P35: shows a command ready to paste, with secret file paths instead of secrets', () => {
    const file = '/srv/postrider/first-start/api-key';

    const run = running(['rest', 'admin']);
    const config: Config = { ...run.services.config, DELIVERY: [{ kind: 'capture' }], BOOTSTRAP_API_KEY: undefined };

    const text = banner({ ...run, services: { ...run.services, config } }, { api_key: { file } });

    expect(text).toContain(`  API key        in ${file}\n`);
    expect(text).toContain(`-H "Authorization: Bearer $(cat '${file}')"`);
  });

  it('explains how to sign in after a restart, if it serves the dashboard', () => {
    expect(banner(running(['admin']))).toContain(
      '  Operator       shown on the first start; for a new sign-in link, run npx postrider operators login-link',
    );
    expect(banner(running(['rest']))).not.toContain('login-link');
  });

  it('lists leftover databases, and suggests removing them (newcomer N20)', () => {
    const leftovers = Array.from({ length: 7 }, (_, index) => ({
      directory: `/var/lib/postrider/cluster-${index}`,
      made_for: `/root/shop-${index}/.postrider`,
    }));

    const text = banner({ ...running(['rest']), leftovers });

    expect(text).toContain('    /var/lib/postrider/cluster-4, created for /root/shop-4/.postrider\n    and 2 more\n');
    expect(text).toContain('To see their size, run npx postrider databases. To delete one, add --remove DIRECTORY.');
    expect(banner(running(['rest']))).not.toContain('databases');
  });

  it("lists each of the process's listeners with its port", () => {
    const ports = { capture: 1026, inbound: 2526, submission: [587, 465], metrics: 9464 };

    const text = banner({ ...running(['rest', 'inbound']), ports });

    for (const line of [
      'SMTP capture   127.0.0.1:1026',
      'Bounces        127.0.0.1:2526',
      'Submission     127.0.0.1:587',
      'Submission     127.0.0.1:465',
      'Metrics        http://127.0.0.1:9464/metrics',
    ])
      expect(text).toContain(`  ${line}\n`);
  });

  it('shows the addresses that others use, where PUBLIC_URL sets them', () => {
    const run = running(['rest', 'admin']);

    const text = banner({ ...run, services: { ...run.services, public_url: 'https://mail.example.com' } });

    expect(text).toContain('Postrider is ready at http://localhost:3000\n');
    expect(text).toContain('  Dashboard      https://mail.example.com\n');
    expect(text).toContain('  REST API       https://mail.example.com/v1\n');
    expect(text).toContain('(try it at https://mail.example.com/graphiql)');
  });

  it('is one line of JSON where logs are JSON', () => {
    const ports = { capture: null, inbound: 2526, submission: [587, 465], metrics: null };
    const file = '/srv/postrider/first-start/api-key';

    const run = running(['rest']);
    const services = { ...run.services, config: { ...run.services.config, BOOTSTRAP_API_KEY: undefined } };
    const line = bannerLine({ ...run, services, ports }, { ...NONE, api_key: { file } });

    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      msg: 'Postrider is ready at http://localhost:3000',
      rest_api: 'http://localhost:3000/v1',
      bounces: '127.0.0.1:2526',
      submission: '127.0.0.1:587, 127.0.0.1:465',
      api_key: `in ${file}`,
    });
  });

  it('omits GraphQL if the process does not serve it', () => {
    expect(banner(running(['rest']))).not.toContain('graphql');
  });
});

function running(roles: Running['services']['config']['ROLES']): Running {
  const config = { ...world.services.config, ROLES: roles };
  return {
    services: { ...world.services, config, public_url: 'http://localhost:3000' },
    url: 'http://localhost:3000',
    ports: { capture: null, inbound: null, submission: [], metrics: null },
    provisioned: { operator: null, api_key: null },
    login_link: null,
    worker_count: 1,
    embedded: false,
    leftovers: [],
    stop: async () => undefined,
  };
}
