import { isIP } from 'node:net';
import { transactionTime } from '@postrider/db';
import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { absentableOr } from '../fields/absentable.ts';
import { newId } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { type AppError, refuseFields } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { hashSecret, keyModes, newSecret, secretPrefix } from '../operation/secrets.ts';
import { keyEntry, keyFacts, keySchema, scopeField } from './key-entry.ts';
import { refuseFurther } from './refuse-further.ts';
import { refuseTooMany } from './refuse-too-many.ts';
import { insertKey } from './store.ts';

const domainField = z.string().transform((text, context) => {
  const name = canonicalDomain(text);
  if (name !== null) return name;
  context.addIssue(issueFor('invalid_domain', `${text.slice(0, 80)} is not a domain name.`));
  return z.NEVER;
});

const networkField = z
  .string()
  .refine(isNetwork, 'must be an IP address or a network such as 192.0.2.0/24')
  .meta({ examples: ['192.0.2.0/24', '2001:db8::1'] });

/** Creates a key. Its secret is only in this response. A key cannot grant a scope that its creator lacks. */
export const createKey = operation({
  name: 'api_keys.create',
  scope: 'admin',
  sandbox: true,
  summary: 'Create an API key; its secret is returned once',
  reasons: ['invalid_domain', 'invalid_timestamp', 'key_domain_restricted', 'key_limit', 'reauthentication_required'],
  input: z.object({
    name: z
      .string()
      .min(1)
      .max(100)
      .refine((text) => !/\p{Cc}/u.test(text), 'must not contain line breaks or control characters')
      .meta({ description: 'Name for your team. Need not be unique.', examples: ['Shop'] }),
    scopes: z
      .array(scopeField)
      .min(1)
      .meta({ description: 'The permissions of the key, none beyond your own.', examples: [['email:send']] }),
    mode: absentableOr(z.enum(keyModes), 'live' as const).meta({
      description: 'Sandbox keys send to the simulator only.',
    }),
    domains: z
      .array(domainField)
      .min(1)
      .max(100)
      .nullish()
      .meta({ description: 'Domains allowed in the from address. Empty: any.', examples: [['example.com']] }),
    allowed_ips: z
      .array(networkField)
      .min(1)
      .max(100)
      .nullish()
      .meta({ description: 'Client IP addresses and networks allowed to use the key. Empty: any.' }),
    expires_at: timestampField('expires_at').nullish().meta({ description: 'When the key expires. null: never.' }),
  }),
  output: keySchema.extend({
    secret: z.string().meta({ description: 'pr_live_… or pr_test_…, only returned here.' }),
  }),
  async run(ctx, input) {
    await requireFreshSignIn(ctx);
    const { actor } = ctx;
    const limits = { allowed_ips: input.allowed_ips ?? null, expires_at: input.expires_at ?? null };
    await refuseFurther(ctx, { ...input, domains: input.domains ?? null, ...limits });
    const secret = newSecret(input.mode);
    const row = await ctx.sql.begin(async (tx) => {
      if (limits.expires_at && limits.expires_at <= (await transactionTime(tx))) throw expired();
      await refuseTooMany(tx, actor, input.mode);
      const key = await insertKey(tx, {
        workspace_id: actor.workspace_id,
        id: newId('api_key', ctx.clock.now()),
        name: input.name,
        secret_hash: hashSecret(secret),
        prefix: secretPrefix(input.mode),
        last4: secret.slice(-4),
        scopes: [...new Set(input.scopes)],
        mode: input.mode,
        domains: input.domains ?? null,
        ...limits,
      });
      if (!key) throw new Error('random secret collision');
      await recordAudit(tx, ctx, [{ action: 'api_key.created', target_id: key.id, diff: keyFacts(key) }]);
      return key;
    });
    return { ...keyEntry(row), secret };
  },
});

function expired(): AppError {
  const message = 'expires_at is in the past. Use a future time or omit it.';
  return refuseFields([{ param: 'expires_at', reason: 'invalid_timestamp', message }]);
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  // An IPv6 address with a zone id is specific to this machine and not a network.
  if (version === 0 || rest.length > 0 || address.includes('%')) return false;
  if (bits === undefined) return true;
  return (
    /^(0|[1-9]\d{0,2})$/.test(bits) &&
    Number(bits) <= (version === 4 ? 32 : 128) &&
    hostBitsClear(address, Number(bits), version)
  );
}

/**
 * Returns whether the host bits of a network are clear. Checked here because Postgres rejects a network with host bits
 * set.
 */
function hostBitsClear(address: string, bits: number, version: number): boolean {
  const width = version === 4 ? 8 : 16;
  const parts = version === 4 ? address.split('.').map(Number) : expandV6(address);
  const value = parts.reduce((sum, part) => (sum << BigInt(width)) | BigInt(part), 0n);
  const hostBits = BigInt(parts.length * width - bits);
  return (value & ((1n << hostBits) - 1n)) === 0n;
}

function expandV6(address: string): number[] {
  const host = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = host.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right].map((part) => Number.parseInt(part, 16));
}
