import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { createKey } from '../api-keys/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext, Context, KeyActor } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { type FollowedEntry, followAudit } from './follow-audit.ts';
import { listAudit } from './list-audit.ts';
import { readAuditEntries } from './read-audit.ts';
import { recordAudit } from './record.ts';
import { verifyAudit } from './verify-audit.ts';

const world = await openWorld();

/** Creates a workspace with entries one second apart. */
async function chain(targets: readonly string[]): Promise<ActorContext> {
  const { workspace_id } = await world.workspace('business');
  const ctx = world.as(workspace_id) as ActorContext;
  for (const target_id of targets) {
    await world.clock.advance(1000);
    await world.services.sql.begin((tx) => recordAudit(tx, ctx, [{ action: 'domain.added', target_id }]));
  }
  return ctx;
}

function withScopes(workspace_id: string, scopes: KeyActor['scopes']): Context {
  const actor = {
    kind: 'key',
    workspace_id,
    key_id: newId('api_key', 0),
    scopes,
    mode: 'live',
    domains: null,
  } as const;
  return { ...world.as(workspace_id), actor };
}

/** Tampers with the database directly. */
async function tamper(statement: string): Promise<void> {
  await world.services.sql.begin(async (tx) => {
    await tx`alter table audit_log disable trigger all`;
    await tx.unsafe(statement);
    await tx`alter table audit_log enable trigger all`;
  });
}

describe('the audit list', () => {
  it('shows the newest entries first, one page at a time', async () => {
    const ctx = await chain(['a', 'b', 'c']);

    const first = await invoke(ctx, listAudit, { limit: 2 });
    const second = await invoke(ctx, listAudit, { limit: 2, cursor: first.next_cursor });

    expect(first.data.map(({ target_id }) => target_id)).toEqual(['c', 'b']);
    expect(second.data.map(({ target_id, action }) => [target_id, action])).toEqual([
      ['a', 'domain.added'],
      [expect.stringMatching(/^key_/), 'api_key.created'],
    ]);
    expect(second.next_cursor).toBe(null);
  });

  it('filters by action, target, actor and time range', async () => {
    const ctx = await chain(['a', 'b']);
    // Entries have microsecond precision; this time does not.
    await world.clock.advance(1000);
    const since = new Date(world.clock.now()).toISOString();
    const { id } = await invoke(ctx, createKey, { name: 'Later', scopes: ['email:send'] });
    const targets = async (filters: object) =>
      (await invoke(ctx, listAudit, filters)).data.map(({ target_id }) => target_id);

    expect(await targets({ action: 'api_key.created', since })).toEqual([id]);
    expect(await targets({ action: 'domain.added' })).toEqual(['b', 'a']);
    expect(await targets({ action: 'domain.added,api_key.created', target_id: 'a' })).toEqual(['a']);
    expect(await targets({ actor_id: 'system', until: since })).toHaveLength(3);
    expect(await targets({ actor_id: 'key_of_nobody' })).toEqual([]);
    await expect(invoke(ctx, listAudit, { action: 'domain.bought' })).rejects.toMatchObject({ reason: 'invalid_type' });
  });

  it('lists changes without reads, or reads alone', async () => {
    const ctx = await chain(['a']);
    const { sql } = world.services;
    // Entries of one millisecond have no order.
    await world.clock.advance(1000);
    await sql.begin((tx) => recordAudit(tx, ctx, [{ action: 'message.content_read', target_id: 'r' }]));
    await world.clock.advance(1000);
    await sql.begin((tx) => recordAudit(tx, ctx, [{ action: 'domain.removed', target_id: 'b' }]));
    const actions = async (filters: object) => (await invoke(ctx, listAudit, filters)).data.map(({ action }) => action);

    expect(await actions({})).toEqual(['domain.removed', 'message.content_read', 'domain.added', 'api_key.created']);
    expect(await actions({ kind: 'changes' })).toEqual(['domain.removed', 'domain.added', 'api_key.created']);
    expect(await actions({ kind: 'reads' })).toEqual(['message.content_read']);
    expect(await actions({ kind: 'changes', action: 'message.content_read,domain.added' })).toEqual(['domain.added']);
    expect(await actions({ kind: 'reads', action: 'domain.added' })).toEqual([]);
    expect(await actions({ kind: 'changes', target_id: 'r' })).toEqual([]);
    expect(await actions({ kind: 'changes', actor_id: 'system' })).toHaveLength(3);
    await expect(invoke(ctx, listAudit, { kind: 'writes' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('continues behind many reads and skips no change', async () => {
    const ctx = await chain(['a', 'b']);
    const reads = Array.from({ length: 1500 }, () => ({ action: 'message.content_read', target_id: 'r' }) as const);
    await world.clock.advance(1000);
    await world.services.sql.begin((tx) => recordAudit(tx, ctx, reads));

    const first = await invoke(ctx, listAudit, { kind: 'changes', limit: 2 });
    const second = await invoke(ctx, listAudit, { kind: 'changes', limit: 2, cursor: first.next_cursor });
    const third = await invoke(ctx, listAudit, { kind: 'changes', limit: 2, cursor: second.next_cursor });

    expect([first.data.length, first.has_more]).toEqual([0, true]);
    expect(second.data.map(({ target_id }) => target_id)).toEqual(['b', 'a']);
    expect(third.data.map(({ action }) => action)).toEqual(['api_key.created']);
    expect(third.next_cursor).toBe(null);
  });

  it('covers an admin’s own workspace, or the whole instance for an operator', async () => {
    const { actor } = await chain(['a']);
    const admin = withScopes(actor.workspace_id, ['admin']);
    const operator = withScopes(actor.workspace_id, ['operator']);
    const instance = world.as(actor.workspace_id) as ActorContext;
    const fact = { action: 'destination.limited', target_id: 'slow.test', workspace_id: INSTANCE } as const;
    await world.services.sql.begin((tx) => recordAudit(tx, instance, [fact]));

    const own = await invoke(admin, listAudit, {});
    const all = await invoke(operator, listAudit, { chain: 'instance' });

    expect(own.data.map(({ action }) => action)).toEqual(['domain.added', 'api_key.created']);
    expect(all.data.map(({ target_id }) => target_id)).toEqual(['slow.test']);
    const [entry] = all.data;
    const ids = [own.data[0]?.id, entry?.id, 'aud_none'];
    expect(await invoke(operator, readAuditEntries, { ids })).toEqual([null, entry, null]);
    expect(await invoke(admin, readAuditEntries, { ids })).toEqual([own.data[0], null, null]);
    await expect(invoke(admin, listAudit, { chain: 'instance' })).rejects.toMatchObject({ reason: 'missing_scope' });
    await expect(invoke(operator, listAudit, {})).rejects.toMatchObject({ reason: 'missing_scope' });
  });
});

describe('the audit stream', () => {
  it('returns entries in commit order and resumes from a cursor', async () => {
    const ctx = await chain(['a']);
    const { sql } = world.services;
    const add = (target_id: string) => sql.begin((tx) => recordAudit(tx, ctx, [{ action: 'domain.added', target_id }]));
    const entries: FollowedEntry[] = [];
    const read = async (stream: AsyncGenerator<FollowedEntry | null>, count: number) => {
      while (entries.length < count) {
        const { value } = await stream.next();
        if (value) entries.push(value);
      }
    };

    const stream = await invoke(ctx, followAudit, {});
    expect((await stream.next()).value).toBe(null);
    await Promise.all(['b', 'c', 'd'].map(add));
    await read(stream, 3);
    await stream.return(null);
    await add('e');
    await read(await invoke(ctx, followAudit, { after: entries[1]?.cursor }), 5);

    const sequences = entries.map(({ node }) => node.sequence);
    expect(sequences).toEqual([3, 4, 5, 5, 6]);
    expect(entries.map(({ node }) => node.target_id).sort()).toEqual(
      ['b', 'c', 'd', 'e', entries[2]?.node.target_id].sort(),
    );
    await expect(invoke(ctx, followAudit, { after: 'x' })).rejects.toMatchObject({ reason: 'invalid_cursor' });
  });
});

describe('audit chain verification', () => {
  it('accepts an intact chain, from its beginning or from a given sequence number', async () => {
    const ctx = await chain(['a', 'b', 'c']);

    expect(await invoke(ctx, verifyAudit, {})).toMatchObject({ verified: 4, length: 4, complete: true, broken: null });
    expect(await invoke(ctx, verifyAudit, { after: 2 })).toMatchObject({ verified: 4, broken: null });
  });

  it.each([
    ['changed', 'was changed', (id: string) => `update audit_log set reason = 'none' where id = id_of('${id}')`, 3],
    ['missing', 'was removed', (id: string) => `delete from audit_log where id = id_of('${id}')`, 3],
    [
      'changed',
      'refers to a wrong previous hash',
      (id: string) => `update audit_log set previous_hash = '' where id = id_of('${id}')`,
      3,
    ],
    [
      'detached',
      'follows a rewritten entry',
      (id: string) => `update audit_log a set reason = 'none' where id = id_of('${id}');
        update audit_log a set hash = audit_hash(a) where id = id_of('${id}')`,
      4,
    ],
  ] as const)('reports the problem %s for the first entry that %s', async (problem, _, statement, sequence) => {
    const ctx = await chain(['a', 'b', 'c']);
    const { data } = await invoke(ctx, listAudit, { target_id: 'b' });

    await tamper(statement(data[0]?.id ?? ''));

    const verification = await invoke(ctx, verifyAudit, {});
    expect(verification).toMatchObject({ verified: sequence - 1, length: 4, broken: { sequence, problem } });
  });

  it('detects that the last entry was rewritten or removed', async () => {
    const rewritten = await chain(['a', 'b']);
    const cut = await chain(['a', 'b']);
    const last = `workspace_id = id_of('${rewritten.actor.workspace_id}') and sequence = 3`;

    await tamper(`update audit_log a set reason = 'none' where ${last};
      update audit_log a set hash = audit_hash(a) where ${last}`);
    await tamper(`delete from audit_log where workspace_id = id_of('${cut.actor.workspace_id}') and sequence = 3`);

    expect(await invoke(rewritten, verifyAudit, {})).toMatchObject({ broken: { sequence: 3, problem: 'replaced' } });
    expect(await invoke(cut, verifyAudit, {})).toMatchObject({ broken: { sequence: 3, problem: 'missing', id: null } });
  });
});
