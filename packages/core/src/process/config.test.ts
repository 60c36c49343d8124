import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, redactConfig } from './config.ts';

const problemsOf = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  return '';
};

const SECRET = 's'.repeat(32);

describe('readConfig', () => {
  it('accepts an empty environment', () => {
    expect(readConfig({})).toMatchObject({
      HOST: '127.0.0.1',
      DATA_DIR: '.postrider',
      ROLES: ['rest', 'admin', 'worker', 'inbound'],
      DELIVERY: [{ kind: 'capture' }],
      TRUSTED_PROXIES: [],
      LOG_LEVEL: 'info',
    });
  });

  it('rejects a drain time that leaves no time for stopping', () => {
    expect(problemsOf({ LIMITS: 'drain=10s' })).toContain('In LIMITS, drain is more than half of SHUTDOWN_GRACE');
    expect(problemsOf({ LIMITS: 'drain=10s', SHUTDOWN_GRACE: '20s' })).toBe('');
  });

  it('treats an empty variable as unset, and ignores other programs’ variables', () => {
    const config = readConfig({ PORT: '', ROLES: '', DATABASE_URL: '', PATH: '/bin', HOSTNAME: 'x', npm_config: 'y' });

    expect(config).toEqual(readConfig({}));
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('accepts schedules of up to 72 hours', () => {
    const { RETRY_SCHEDULE, WEBHOOK_RETRY_SCHEDULE } = readConfig({ WEBHOOK_RETRY_SCHEDULE: '5s, 2m,1h,1d' });

    expect(RETRY_SCHEDULE.slice(0, 5)).toEqual([60, 300, 900, 1800, 3600]);
    expect(RETRY_SCHEDULE.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(72 * 3600);
    expect(WEBHOOK_RETRY_SCHEDULE).toEqual([5, 120, 3600, 86_400]);
  });

  it('accepts a list of transports with credentials', () => {
    const { DELIVERY } = readConfig({ DELIVERY: 'smtp://u%40x:p%2C%25@relay.test:2525, smtps://[::1]' });

    expect(DELIVERY).toEqual([
      { kind: 'smtp', secure: false, host: 'relay.test', port: 2525, user: 'u@x', pass: 'p,%' },
      { kind: 'smtp', secure: true, host: '::1', port: 465, user: '', pass: '' },
    ]);
  });

  it('accepts mx with a fallback relay, a port, networks and name servers', () => {
    const config = readConfig({
      DELIVERY: 'mx,smtp://relay.test',
      MX_PORT: '2525',
      MX_ALLOW_NETWORKS: '127.0.0.0/8,::1',
      DNS_SERVERS: '127.0.0.1:5353, 192.0.2.53, ::1, [::1]:5353',
    });

    expect(config.DELIVERY.map(({ kind }) => kind)).toEqual(['mx', 'smtp']);
    expect(config.MX_PORT).toBe(2525);
    expect(config.DNS_SERVERS).toEqual(['127.0.0.1:5353', '192.0.2.53', '::1', '[::1]:5353']);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ DATABASE_URL: 'postgres://localhost/x' }, /SECRET_KEY must be set too.*openssl rand/],
    [
      { DATABASE_URL: 'postgres://h:port/x', DATABASE_DIRECT_URL: 'postgres://h/x', SECRET_KEY: SECRET },
      /DATABASE_URL is not a valid URL\. Use postgres:/,
    ],
    [{ DATABASE_URL: 'mysql://localhost/x', SECRET_KEY: SECRET }, /DATABASE_URL must be a postgres:\/\/ URL/],
    [{ SECRET_KEY: SECRET, SECRET_KEY_PREVIOUS: 'old' }, /SECRET_KEY_PREVIOUS must have at least 32 characters/],
    [{ TLS_CERT_FILE: 'a.pem' }, /TLS_CERT_FILE and TLS_KEY_FILE must be set together/],
    [{ TLS_KEY_FILE: 'a.pem' }, /TLS_CERT_FILE and TLS_KEY_FILE must be set together/],
    [{ SECRET_KEY_PREVIOUS: SECRET }, /SECRET_KEY_PREVIOUS is set without SECRET_KEY/],
    [{ DELIVERY: 'capture,smtp://relay.test' }, /DELIVERY lists capture with other transports/],
    [{ DELIVERY: 'capture,mx' }, /DELIVERY lists capture with other transports/],
    [{ DELIVERY: 'mx,mx' }, /DELIVERY lists mx twice/],
    [{ MX_PORT: '2525' }, /MX_PORT is set, but DELIVERY does not list mx/],
    [{ DELIVERY: 'smtp://relay.test', MX_ALLOW_NETWORKS: '::1' }, /MX_ALLOW_NETWORKS is set, but DELIVERY/],
    [{ DNS_SERVERS: 'ns.test' }, /DNS_SERVERS has "ns\.test", which is not an address/],
    [{ DNS_SERVERS: '127.0.0.1:0' }, /DNS_SERVERS has "127\.0\.0\.1:0"/],
    [{ DNS_SERVERS: '[127.0.0.1]:53' }, /DNS_SERVERS has "/],
    [{ PORT: '1711', CAPTURE_PORT: '1711' }, /PORT and CAPTURE_PORT are both 1711; change one of them/],
    [{ CAPTURE_PORT: '1711', INBOUND_PORT: '1711' }, /CAPTURE_PORT and INBOUND_PORT are both 1711/],
    [{ PORT: '2525' }, /PORT is 2525, which is also the default of INBOUND_PORT\. Set INBOUND_PORT to another port/],
    [
      { CAPTURE_PORT: '2525' },
      /CAPTURE_PORT is 2525, which is also the default of INBOUND_PORT\..* or change CAPTURE_PORT\./,
    ],
    [{ PORT: '1025' }, /PORT is 1025, which is also the default of CAPTURE_PORT\. Set CAPTURE_PORT/],
    [{ SECRET_KEY: 'short' }, /SECRET_KEY must have at least 32 characters/],
    [
      { BOOTSTRAP_API_KEY: `pr_test_${'0'.repeat(64)}` },
      /BOOTSTRAP_API_KEY must be pr_live_ followed by 64 hex digits/,
    ],
    [{ ADMIN_PASSWORD: 'short' }, /ADMIN_PASSWORD must have at least 10 characters/],
    [{ ROLES: 'rest,smtp' }, /ROLES has "smtp", which is not one of rest, admin, worker, inbound\./],
    [{ ROLES: ',' }, /ROLES must include at least one of rest, admin/],
    [{ DELIVERY: ',' }, /DELIVERY must include capture, mx/],
    [{ PORT: '-1' }, /PORT must be a whole number from 1 to 65535, or 0 for any free port/],
    [{ MX_PORT: '0', DELIVERY: 'mx' }, /MX_PORT must be a whole number from 1 to 65535\./],
    [{ PORT: '70000' }, /PORT /],
    [{ PORT: 'http' }, /PORT /],
    [{ RETRY_SCHEDULE: '5m,1w' }, /RETRY_SCHEDULE "1w" is not a duration/],
    [{ PUBLIC_URL: 'ftp://x.test' }, /PUBLIC_URL must be an HTTP or HTTPS URL such as/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be one of trace, debug, info, warn, error, silent\./],
    [{ TRUSTED_PROXIES: '10.0.0.0/8,proxy.test' }, /TRUSTED_PROXIES has "proxy\.test"/],
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /TRUSTED_PROXIES has "10\.0\.0\.0\/33"/],
    [{ DELIVERY: 'mx', MX_ALLOW_NETWORKS: '::1/129' }, /MX_ALLOW_NETWORKS has "/],
    [{ WEBHOOK_ALLOW_NETWORKS: 'all' }, /WEBHOOK_ALLOW_NETWORKS has "/],
  ])('rejects %j, reporting which variable is wrong and how to fix it', (env, message) => {
    expect(problemsOf(env)).toMatch(message);
  });

  it.each<Record<string, string>>([
    { PORT: '2525', INBOUND_PORT: '2526' },
    { PORT: '2525', ROLES: 'rest,admin,worker' },
    { PORT: '1025', DELIVERY: 'mx' },
    { CAPTURE_PORT: '2525', ROLES: 'worker' },
    { INBOUND_PORT: '1025' },
    { CAPTURE_PORT: '3000' },
    { INBOUND_PORT: '3000' },
    { PORT: '0', CAPTURE_PORT: '0', INBOUND_PORT: '0' },
  ])('accepts %j without a port conflict', (env) => {
    expect(problemsOf(env)).toBe('');
  });

  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['SECRET_KEYS', 'SECRET_KEY'],
    ['RETRY_SHCEDULE', 'RETRY_SCHEDULE'],
    ['TRUSTED_PROXY', null],
    ['LOG_LEVE', 'LOG_LEVEL'],
    ['DELIVRY', 'DELIVERY'],
    ['DELIVERYS', 'DELIVERY'],
    ['ROLE', null],
    ['HOSTS', null],
    ['PORTS', null],
  ])('parses %s as %s', (name, expected) => {
    const problems = problemsOf({ [name]: 'x' });

    if (expected === null) expect(problems).toBe('');
    else expect(problems).toContain(`${name} is not a Postrider setting; rename it to ${expected}.`);
  });

  it('reports every problem in one error', () => {
    const problems = problemsOf({ DATABSE_URL: 'x', PORT: 'x', TLS_CERT_FILE: 'a', LOG_LEVEL: 'x' });

    expect(problems.match(/^ {2}- /gm)).toHaveLength(3);
    expect(problems).toMatch(/DATABSE_URL[\s\S]*PORT[\s\S]*LOG_LEVEL/);
  });

  it.each([
    'smtp:/user:hunter22@relay.test',
    'smpt://user:hunter22@relay.test',
    'smtp://user:hunter22%zz@relay.test',
    'smtp://user:a,hunter22@relay.test',
  ])('does not reveal the password in %s', (DELIVERY) => {
    const problems = problemsOf({ DELIVERY });

    expect(problems).toContain('DELIVERY must list only capture, mx');
    expect(problems).not.toContain('hunter22');
  });
});

describe('redactConfig', () => {
  it.each([
    'postgres://user:hunter22@db.test:5432/postrider',
    'postgresql://db.test:5432/postrider?user=u&password=hunter22',
    'postgres://user:x@hunter22@db.test:5432/postrider',
  ])('reveals no secrets from %s', (DATABASE_URL) => {
    const json = JSON.stringify(
      redactConfig(
        readConfig({
          DATABASE_URL,
          SECRET_KEY: `hunter22${SECRET}`,
          SECRET_KEY_PREVIOUS: `hunter22${SECRET}`,
          ADMIN_PASSWORD: 'hunter22hunter22',
          BOOTSTRAP_API_KEY: `pr_live_${'7'.repeat(64)}`,
          DELIVERY: 'smtp://user:hunter22@relay.test',
        }),
      ),
    );

    expect(json).not.toMatch(/hunter22|7777/);
    expect(json).toContain('relay.test:587');
  });

  it('reveals no secrets from an unparsable address', () => {
    const DATABASE_URL = 'postgres://user:hunter22/x@db.test:5432/postrider';

    const problems = problemsOf({ DATABASE_URL, SECRET_KEY: SECRET });

    expect(problems).toContain('DATABASE_URL is not a valid URL');
    expect(problems).not.toContain('hunter22');
  });

  it('shows the database location', () => {
    const config = readConfig({ DATABASE_URL: 'postgres://u:p@db.test:5432/postrider', SECRET_KEY: SECRET });

    expect(redactConfig(config).DATABASE_URL).toBe('postgres://db.test:5432/postrider');
  });
});
