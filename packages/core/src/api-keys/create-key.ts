import { isIP } from 'node:net';
import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { issueFor } from '../parse-input.ts';
import { timestampField } from '../timestamp-field.ts';
import { keyDomainProblem } from './key-domains.ts';
import { keyEntry, keyFacts, keySchema, scopeField } from './key-entry.ts';
import { hasScope } from './scopes.ts';
import { hashSecret, type KeyMode, keyModes, newSecret, secretPrefix } from './secret.ts';
import { countActiveKeys, insertKey, lockKeyCount, reachesBeyond } from './store.ts';

// Each key has windows and budgets of its own, so these bound a workspace only as far as its keys are bounded.
const MOST_KEYS = 1000;

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

/** Creates a key; its secret is in this answer and nowhere else. A key never grants a scope that its maker lacks. */
export const createKey = operation({
  name: 'api_keys.create',
  scope: 'admin',
  summary: 'Create an API key; its secret is shown this once',
  input: z.object({
    name: z
      .string()
      .min(1)
      .max(100)
      .meta({ examples: ['Shop'] }),
    scopes: z
      .array(scopeField)
      .min(1)
      .meta({ examples: [['email:send']] }),
    mode: z.enum(keyModes).default('live').meta({ description: 'A sandbox key sends into the simulator only.' }),
    domains: z
      .array(domainField)
      .min(1)
      .max(100)
      .nullish()
      .meta({ description: 'The only domains that from may have; none given: any.', examples: [['example.com']] }),
    allowed_ips: z
      .array(networkField)
      .min(1)
      .max(100)
      .nullish()
      .meta({ description: 'The only addresses and networks it works from; none given: any.' }),
    expires_at: timestampField('expires_at').nullish(),
  }),
  output: keySchema.extend({
    secret: z.string().meta({ description: 'pr_live_… or pr_test_…; it is shown here only.' }),
  }),
  async run(ctx, input) {
    await requireFreshSignIn(ctx);
    const { actor } = ctx;
    const missing = actor.kind !== 'system' ? input.scopes.find((scope) => !hasScope(actor.scopes, scope)) : undefined;
    if (missing) {
      throw new AppError('missing_scope', `A key cannot grant ${missing} because it lacks that scope itself.`, {
        required_scope: missing,
      });
    }
    if (actor.kind === 'key' && actor.mode === 'sandbox' && input.mode === 'live') {
      throw new AppError('missing_scope', 'A sandbox key cannot make a live one; use a live key.', {
        required_scope: 'admin',
      });
    }
    if (actor.kind === 'key' && actor.domains && !within(actor.domains, input.domains)) {
      throw new AppError(
        'key_domain_restricted',
        `This key may send from ${actor.domains.join(', ')} only, so domains of the new key must name some of these.`,
      );
    }
    const limits = { allowed_ips: input.allowed_ips ?? null, expires_at: input.expires_at ?? null };
    if (actor.kind === 'key') {
      const beyond = await reachesBeyond(ctx.sql, actor, limits);
      if (beyond.later || beyond.elsewhere) {
        const what = beyond.later
          ? 'expires_at must be no later than that of the key that makes it'
          : 'allowed_ips must lie within those of the key that makes it';
        throw new AppError('missing_scope', `A key cannot make one that reaches further: ${what}.`, {
          required_scope: 'admin',
        });
      }
    }
    const secret = newSecret(input.mode);
    const row = await ctx.sql.begin(async (tx) => {
      await lockKeyCount(tx, actor.workspace_id);
      // On the machine itself a lost key can be replaced, whoever has made how many.
      if (actor.kind !== 'system' && (await countActiveKeys(tx, actor.workspace_id, input.mode)) >= MOST_KEYS)
        throw tooMany(input.mode);
      const made = await insertKey(tx, {
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
      if (!made) throw new Error('two random secrets were equal');
      await recordAudit(tx, ctx, [{ action: 'api_key.created', target_id: made.id, diff: keyFacts(made) }]);
      return made;
    });
    return { ...keyEntry(row), secret };
  },
});

function tooMany(mode: KeyMode): AppError {
  return new AppError(
    'key_limit',
    `A workspace has at most ${MOST_KEYS} active ${mode} keys; revoke some that are not in use, or let keys expire.`,
  );
}

/** A key for any domain reaches further than one for some. */
function within(domains: readonly string[], wanted: readonly string[] | null | undefined): boolean {
  return Boolean(wanted?.every((name) => keyDomainProblem(domains, name) === null));
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  // An IPv6 address may name a zone of this machine, which is no network.
  if (version === 0 || rest.length > 0 || address.includes('%')) return false;
  if (bits === undefined) return true;
  return (
    /^(0|[1-9]\d{0,2})$/.test(bits) &&
    Number(bits) <= (version === 4 ? 32 : 128) &&
    hostBitsClear(address, Number(bits), version)
  );
}

/** Postgres refuses a network whose host bits are set, so this says it first. */
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
