import { randomBytes } from 'node:crypto';
import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { newId } from '../fields/ids.ts';
import { AppError, refuseFields } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { requireRoomInPlan } from '../usage/index.ts';
import { type DomainEntry, domainEntry, domainSchema, ownHosts } from './domain-entry.ts';
import { nameBelow, nameProblem } from './domain-name.ts';
import { generateInTurn } from './keys/generate-in-turn.ts';
import { encryptDkimKeys } from './records/dkim-keys.ts';
import { domainByName, insertDomain, publicKeysOf } from './store.ts';

// A label has at most 63 characters, and the second selector is longer by "-ed25519".
const SELECTOR = /^[a-z0-9](?:[a-z0-9-]{0,53}[a-z0-9])?$/;
const NAME = 'name must be a domain such as example.com, without scheme, path or wildcard.';

const nameField = z
  .string()
  .meta({ description: 'The domain of your From addresses, without scheme or path.', examples: ['example.com'] })
  .transform((text, context) => {
    const name = canonicalDomain(text);
    if (name !== null) return name;
    context.addIssue(issueFor('invalid_domain', NAME));
    return z.NEVER;
  });

export const returnPathField = z
  .string()
  .nullish()
  .meta({ description: 'Subdomain for the return path, which receives bounces.', examples: ['bounces'] });

export const ed25519Field = z
  .boolean()
  .nullish()
  .meta({ description: 'Whether email gets a second DKIM signature (Ed25519), which needs a second DNS record.' });

const addSchema = z.object({
  name: nameField,
  dkim_selector: z
    .string()
    .toLowerCase()
    .regex(SELECTOR, 'must be 1 to 55 letters, digits and inner hyphens')
    .nullish()
    .meta({
      description: 'DKIM selector. It must differ from the selectors of your other email services.',
    }),
  return_path: returnPathField,
  dkim_ed25519: ed25519Field,
});

/** Adds an unverified name. It belongs to no workspace until its records have been found. */
export const addDomain = operation({
  name: 'domains.add',
  scope: 'domains:write',
  summary: 'Add a sending domain; the response contains the DNS records to publish',
  reasons: ['invalid_domain', 'domain_not_allowed', 'domain_already_exists', 'domain_limit', 'dkim_keys_busy'],
  input: addSchema,
  output: domainSchema,
  async run(ctx, { name, dkim_selector, return_path: path_input, dkim_ed25519 }): Promise<DomainEntry> {
    const { workspace_id } = ctx.actor;
    const return_path = returnPathOf(path_input, name);
    if (await domainByName(ctx.sql, workspace_id, name)) throw alreadyExists(name);
    const problem = nameProblem(name, ownHosts(ctx.config, ctx.public_url));
    if (problem) throw problem;
    // Checked again when the domain is stored. Here it saves generating a key that cannot be used.
    await ctx.sql.begin((tx) => requireRoomInPlan(tx, workspace_id, 'domains'));
    const pairs = await generateInTurn(ctx, workspace_id, dkim_ed25519 ?? false);
    const now_ms = ctx.clock.now();
    const keys = encryptDkimKeys(ctx.encryption, pairs, now_ms, dkim_selector ?? undefined);
    const row = await ctx.sql.begin(async (tx) => {
      await requireRoomInPlan(tx, workspace_id, 'domains');
      const added = await insertDomain(tx, {
        workspace_id,
        id: newId('domain', now_ms),
        name,
        status: 'pending',
        sandbox: false,
        ownership_token: randomBytes(16).toString('hex'),
        return_path,
        dkim_ed25519: dkim_ed25519 ?? false,
        keys,
        signing_key_ids: [keys[0].id],
        checked: true,
      });
      if (added)
        await recordAudit(tx, ctx, [{ action: 'domain.added', target_id: added.id, diff: { name, return_path } }]);
      return added;
    });
    if (!row) throw alreadyExists(name);
    return domainEntry(row, await publicKeysOf(ctx.sql, [row.id]), ctx);
  },
});

export function returnPathOf(value: string | null | undefined, name: string): string | null {
  if (value === null || value === undefined) return null;
  const return_path = nameBelow(value, name);
  if (return_path !== null) return return_path;
  const message = `return_path must be a subdomain of ${name}, such as bounces or bounces.${name}.`;
  throw refuseFields([{ param: 'return_path', reason: 'invalid_domain', message }]);
}

export function domainClaimed(name: string): AppError {
  return new AppError(
    'domain_claimed',
    `Another workspace verified ${name}. You can verify it here after it is removed there.`,
  );
}

function alreadyExists(name: string): AppError {
  return new AppError(
    'domain_already_exists',
    `${name} is already in this workspace. Get it with GET /v1/domains/${name}.`,
  );
}
