import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { throughPooler, tlsFault, withPasswordFile } from '@postrider/db';
import { z } from 'zod';
import { personEmail } from '../fields/email.ts';
import { refusalWords } from '../operation/refusal-words.ts';
import { editDistance } from '../operation/spelling.ts';
import { readLimits } from './limits.ts';

export const roleNames = ['rest', 'admin', 'worker', 'inbound'] as const;
export type RoleName = (typeof roleNames)[number];

const DURATION_UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const MIN_AGE = 86_400;
// Shorter names are not compared, because other programs' variables, such as PORTS or ROLE, are too similar.
const MIN_JUDGED = 8;
const LISTENED_ON = [
  'PORT',
  'CAPTURE_PORT',
  'INBOUND_PORT',
  'SUBMISSION_PORT',
  'SUBMISSIONS_PORT',
  'METRICS_PORT',
] as const;
/** The default ports of the listeners. */
export const usualPorts = { PORT: 3000, CAPTURE_PORT: 1025, INBOUND_PORT: 2525 } as const;
const DEFAULT_RETRIES = '1m,5m,15m,30m,1h,2h,4h,8h,8h,8h,8h,8h,8h,8h';
const DEFAULT_WEBHOOK_RETRIES = '5s,1m,5m,30m,2h,5h,10h,14h,20h,24h';

function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const PORT_RULE = 'must be a whole number from 1 to 65535';
const LISTENER_RULE = 'must be a whole number from 1 to 65535, or 0 for any free port';
const list = z.string().transform(commaList);
const port = z.coerce.number({ error: PORT_RULE }).int(PORT_RULE).min(1, PORT_RULE).max(65_535, PORT_RULE);
const listenerPort = z.coerce
  .number({ error: LISTENER_RULE })
  .int(LISTENER_RULE)
  .min(0, LISTENER_RULE)
  .max(65_535, LISTENER_RULE);

const limitList = z.string().transform((text, context) => {
  const read = readLimits(commaList(text));
  if ('limits' in read) return read.limits;
  context.addIssue({ code: 'custom', message: read.problem });
  return z.NEVER;
});

const adminEmail = z.string().transform((text, context) => {
  const email = personEmail(text);
  if (email !== null) return email;
  context.addIssue({ code: 'custom', message: 'must be one email address, such as ada@example.com' });
  return z.NEVER;
});

/**
 * Parses an age into seconds. Ages below the minimum are rejected, because they would drop data that retries,
 * statistics and webhooks still read.
 */
const age = z.string().transform((text, context) => {
  const match = /^(\d{1,5})(h|d)$/.exec(text);
  const seconds = match ? Number(match[1]) * DURATION_UNITS[match[2] as keyof typeof DURATION_UNITS] : 0;
  if (seconds >= MIN_AGE) return seconds;
  context.addIssue({ code: 'custom', message: 'must be at least one day, such as 90d or 36h' });
  return z.NEVER;
});

/** Parses a single duration into seconds, within bounds. */
const duration = (min_seconds: number, max_seconds: number) =>
  z.string().transform((text, context) => {
    const match = /^(\d+)(s|m|h|d)$/.exec(text);
    const seconds = match ? Number(match[1]) * DURATION_UNITS[match[2] as keyof typeof DURATION_UNITS] : Number.NaN;
    if (seconds >= min_seconds && seconds <= max_seconds) return seconds;
    const message = `must be a duration from ${min_seconds}s to ${max_seconds}s, such as ${min_seconds}s`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const durations = z.string().transform((text, context) =>
  commaList(text).map((part) => {
    const match = /^(\d+)(s|m|h|d)$/.exec(part);
    if (!match) {
      context.addIssue({ code: 'custom', message: `"${part}" is not a duration such as 30s, 5m or 2h` });
      return z.NEVER;
    }
    return Number(match[1]) * DURATION_UNITS[match[2] as keyof typeof DURATION_UNITS];
  }),
);

const transport = z.string().transform((text, context) => {
  if (text === 'capture' || text === 'mx') return { kind: text } as const;
  const url = URL.canParse(text) ? new URL(text) : null;
  const user = decodePart(url?.username ?? '');
  const pass = decodePart(url?.password ?? '');
  if (url?.hostname && (url.protocol === 'smtp:' || url.protocol === 'smtps:') && user !== null && pass !== null) {
    const secure = url.protocol === 'smtps:';
    return {
      kind: 'smtp',
      secure,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port ? Number(url.port) : secure ? 465 : 587,
      user,
      pass,
    } as const;
  }
  // The entry itself is not shown, because it may contain a password.
  context.addIssue({
    code: 'custom',
    message:
      'must list only capture, mx, smtp://user:pass@host:port or smtps://user:pass@host:port; ' +
      'percent-encode , @ : / and % in a user or password',
  });
  return z.NEVER;
});

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const networks = list.superRefine((value, context) => {
  for (const network of value) {
    const [address = '', bits, ...rest] = network.split('/');
    const max = { 4: 32, 6: 128 }[isIP(address)];
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && max !== undefined && Number(bits) <= max);
    if (max === undefined || !fits || rest.length > 0) {
      context.addIssue({
        code: 'custom',
        message: `has "${network}", which is not an IP address or a network such as 10.0.0.0/8`,
      });
    }
  }
});

const dnsServers = list.superRefine((value, context) => {
  for (const server of value) {
    const [, host = '', bracketed = '', port_text = '53'] =
      /^(?:([^[\]:]+)|\[([^\]]+)\])(?::(\d{1,5}))?$/.exec(server) ?? [];
    const fits = isIP(host) === 4 || isIP(bracketed) === 6 || isIP(server) === 6;
    if (!fits || Number(port_text) < 1 || Number(port_text) > 65_535) {
      context.addIssue({
        code: 'custom',
        message: `has "${server}", which is not an address or address:port such as 192.0.2.53:53 or [2001:db8::53]:53`,
      });
    }
  }
});

const role = z.enum(roleNames, {
  error: ({ input }) => `has "${String(input)}", which is not one of ${roleNames.join(', ')}`,
});

const databaseAddress = z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL');

const schema = z.object({
  DATABASE_URL: databaseAddress.optional(),
  DATABASE_DIRECT_URL: databaseAddress.optional(),
  DATABASE_READ_URL: databaseAddress.optional(),
  DATABASE_PASSWORD_FILE: z.string().optional(),
  DATA_DIR: z.string().default('.postrider'),
  HOST: z.string().default('127.0.0.1'),
  PORT: listenerPort.optional(),
  TRUSTED_PROXIES: networks.default([]),
  ROLES: list
    .pipe(z.array(role).min(1, `must include at least one of ${roleNames.join(', ')}`))
    .default([...roleNames]),
  DELIVERY: list
    .pipe(z.array(transport).min(1, 'must include capture, mx or an smtp:// URL'))
    .default([{ kind: 'capture' }]),
  MX_PORT: port.default(25),
  MX_ALLOW_NETWORKS: networks.default([]),
  DNS_SERVERS: dnsServers.default([]),
  HELO_NAME: z.string().optional(),
  RETURN_PATH_DOMAIN: z.string().optional(),
  CAPTURE_PORT: listenerPort.optional(),
  INBOUND_PORT: listenerPort.optional(),
  SUBMISSION_PORT: listenerPort.optional(),
  SUBMISSIONS_PORT: listenerPort.optional(),
  METRICS_PORT: listenerPort.optional(),
  REQUEST_LOG: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an HTTP or HTTPS URL such as http://localhost:4318' })
    .optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: 'must be a number from 0 to 1' })
    .min(0, 'must be a number from 0 to 1')
    .max(1, 'must be a number from 0 to 1')
    .default(0.01),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  RETRY_SCHEDULE: durations.prefault(DEFAULT_RETRIES),
  TRANSCRIPTS: z.enum(['failures', 'all']).default('failures'),
  RETENTION_BODIES: age.optional(),
  RETENTION_MESSAGES: age.optional(),
  RETENTION_EVENTS: age.optional(),
  RETENTION_TRANSCRIPTS: age.prefault('30d'),
  RETENTION_CAPTURES: age.prefault('7d'),
  RETENTION_REQUESTS: age.prefault('7d'),
  WEBHOOK_RETRY_SCHEDULE: durations.prefault(DEFAULT_WEBHOOK_RETRIES),
  WEBHOOK_ALLOW_NETWORKS: networks.optional(),
  LIMITS: limitList.prefault(''),
  SHUTDOWN_GRACE: duration(5, 3600).prefault('15s'),
  SECRET_KEY: z.string().min(32, 'must have at least 32 characters; create one with openssl rand -hex 32').optional(),
  SECRET_KEY_PREVIOUS: z.string().min(32, 'must have at least 32 characters; use the previous SECRET_KEY').optional(),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an HTTP or HTTPS URL such as https://mail.example.com' })
    .optional(),
  BOOTSTRAP_API_KEY: z
    .string()
    .regex(/^pr_live_[0-9a-f]{64}$/, 'must be pr_live_ followed by 64 hex digits')
    .optional(),
  ADMIN_EMAIL: adminEmail.optional(),
  ALERT_EMAIL: adminEmail.optional(),
  ALERT_WEBHOOK_URL: z
    .url({
      protocol: /^https?$/,
      error: 'must be an HTTP or HTTPS URL such as https://hooks.example.com/postrider',
    })
    .optional(),
  ADMIN_PASSWORD: z.string().min(10, 'must have at least 10 characters').optional(),
  RESEND_API: z.enum(['on', 'off']).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
});
export type Config = Readonly<z.output<typeof schema>>;
export type Transport = Config['DELIVERY'][number];

/** The names of all variables. */
export const configNames: readonly string[] = Object.keys(schema.shape);
const secretNames: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'BOOTSTRAP_API_KEY',
  'ADMIN_PASSWORD',
  // The path of a webhook address is often its only secret.
  'ALERT_WEBHOOK_URL',
]);

/** Values that prevent the start; each line names the variable and the fix. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Parses the environment once; an empty variable counts as unset. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const variables = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const problems: string[] = [];
  for (const name of Object.keys(variables)) {
    if (configNames.includes(name)) continue;
    const suggestion = configNames.find((known) => known.length >= MIN_JUDGED && editDistance(name, known) === 1);
    if (suggestion) problems.push(`${name} is not a Postrider setting; rename it to ${suggestion}.`);
  }
  const parsed = schema.safeParse(variables, { error: refusalWords });
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(`${String(issue.path[0])} ${issue.message}.`);
    throw new ConfigError(problems);
  }
  const config = parsed.data;
  if (config.DATABASE_URL && !config.SECRET_KEY) {
    problems.push(
      'DATABASE_URL is set, so SECRET_KEY must be set too. Create one with openssl rand -hex 32 and store it with the database backups.',
    );
  }
  problems.push(...databaseProblems(config));
  if (!config.TLS_CERT_FILE !== !config.TLS_KEY_FILE) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together.');
  }
  if (config.SECRET_KEY_PREVIOUS && !config.SECRET_KEY) {
    problems.push('SECRET_KEY_PREVIOUS is set without SECRET_KEY; set the new key as well.');
  }
  for (const [place, name] of LISTENED_ON.entries()) {
    const given_port = config[name];
    const other = LISTENED_ON.slice(0, place).find((earlier) => config[earlier] === given_port);
    if (!given_port || !other) continue;
    problems.push(`${other} and ${name} are both ${given_port}; change one of them.`);
  }
  if (config.LIMITS.drain > (config.SHUTDOWN_GRACE * 1000) / 2) {
    problems.push('In LIMITS, drain is more than half of SHUTDOWN_GRACE. Shorten drain or increase SHUTDOWN_GRACE.');
  }
  const kinds = config.DELIVERY.map((entry) => entry.kind);
  problems.push(...takenByDefault(config));
  if (kinds.filter((kind) => kind === 'mx').length > 1) {
    problems.push('DELIVERY lists mx twice. Remove one.');
  }
  if (!kinds.includes('mx')) {
    for (const name of ['MX_PORT', 'MX_ALLOW_NETWORKS']) {
      if (name in variables) problems.push(`${name} is set, but DELIVERY does not list mx; add mx or unset ${name}.`);
    }
  }
  if (kinds.includes('capture') && kinds.length > 1) {
    problems.push('DELIVERY lists capture with other transports. Use capture alone, because it never fails over.');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({ ...config, ...databaseAddresses(config) });
}

const databases = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const;

/** Returns the database URLs, completed with the password file and the pooler settings where needed. */
function databaseAddresses(config: Config): Partial<Config> {
  const { DATABASE_PASSWORD_FILE: file, DATABASE_DIRECT_URL: direct } = config;
  return Object.fromEntries(
    databases.flatMap((name) => {
      const address = config[name];
      if (address === undefined) return [];
      const opened = file === undefined || hasPassword(address) ? address : withPasswordFile(address, file);
      return [[name, name === 'DATABASE_URL' && direct !== undefined ? throughPooler(opened) : opened]];
    }),
  );
}

function hasPassword(address: string): boolean {
  return URL.canParse(address) && new URL(address).password !== '';
}

function databaseProblems(config: Config): string[] {
  const { DATABASE_URL: url, DATABASE_PASSWORD_FILE: file } = config;
  const single = databases.filter((name) => name !== 'DATABASE_URL' && config[name] !== undefined && !url);
  if (single.length > 0) return [`${single.join(' and ')} is set without DATABASE_URL. Set DATABASE_URL too.`];
  const opaque = databases.filter((name) => config[name] !== undefined && !URL.canParse(config[name]));
  if (opaque.length > 0) {
    return [
      `${opaque.join(' and ')} is not a valid URL. Use postgres://user@host:port/database, ` +
        'with @ : / ? # and % inside its parts percent-encoded.',
    ];
  }
  const faults = databases.flatMap((name) => {
    const fault = config[name] === undefined ? null : tlsFault(new URL(config[name]));
    return fault === null ? [] : [`${name} ${fault}.`];
  });
  if (faults.length > 0) return faults;
  if (!file) return [];
  if (!url) return ['DATABASE_PASSWORD_FILE is set without DATABASE_URL. Set DATABASE_URL too.'];
  if (hasPassword(url))
    return ['DATABASE_URL and DATABASE_PASSWORD_FILE have different passwords. Remove the one in DATABASE_URL.'];
  if (!existsSync(file)) return [`DATABASE_PASSWORD_FILE is ${file}, which does not exist. Create it first.`];
  return [];
}

/**
 * Returns a problem for each configured port that equals the default port of a listener that starts earlier. A listener
 * that starts later avoids the configured port automatically: bounces start before capture, and both before HTTP.
 */
function takenByDefault(config: Config): string[] {
  if (!config.ROLES.includes('inbound')) return [];
  const captures = config.DELIVERY.some(({ kind }) => kind === 'capture');
  const pairs = [
    ['INBOUND_PORT', 'CAPTURE_PORT', captures],
    ['INBOUND_PORT', 'PORT', true],
    ['CAPTURE_PORT', 'PORT', captures],
  ] as const;
  return pairs
    .filter(([unset, set, both]) => both && config[unset] === undefined && config[set] === usualPorts[unset])
    .map(
      ([unset, set]) =>
        `${set} is ${usualPorts[unset]}, which is also the default of ${unset}. Set ${unset} to another port or change ${set}.`,
    );
}

/** Returns the config as it may be printed at startup: secrets, and passwords in URLs, are replaced. */
export function redactConfig(config: Config): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined) continue;
    fields[name] = secretNames.has(name)
      ? '[redacted]'
      : databases.some((known) => known === name)
        ? withoutCredentials(String(value))
        : name === 'DELIVERY'
          ? config.DELIVERY.map((entry) => (entry.kind === 'smtp' ? `${entry.host}:${entry.port}` : entry.kind))
          : value;
  }
  return fields;
}

/** Returns host, port and database of a URL; its user, password and parameters may be secret. */
function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return '[redacted]';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
