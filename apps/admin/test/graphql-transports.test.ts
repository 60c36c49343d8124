import { invoke } from '@postrider/core';
import { listAudit } from '@postrider/core/audit';
import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const CANARY = 'canary-3e90a1-password';

const world = await openWorld({ LOG_LEVEL: 'debug' });
const graphql = await openGraphql(world);
beforeEach(async () => {
  await world.services.sql`delete from transport_rules`;
  await world.services.sql`delete from transports`;
});

const ERRORS = '__typename ... on ApiError { reason message } ... on InvalidInputError { fields { path } }';
const TRANSPORT = 'id name kind host port tls username createdAt updatedAt';
const RULE = 'workspaceId fromDomain tag priority destination transports';
const create = `mutation ($input: TransportInput!) {
  transportCreate(input: $input) { ${ERRORS} ... on TransportPayload { transport { ${TRANSPORT} } } }
}`;
const update = `mutation ($input: TransportUpdateInput!) {
  transportUpdate(input: $input) { ${ERRORS} ... on TransportPayload { transport { ${TRANSPORT} } } }
}`;
const remove = `mutation ($input: TargetInput!) {
  transportDelete(input: $input) { ${ERRORS} ... on DeletePayload { deletedId } }
}`;
const setRules = `mutation ($input: TransportRulesInput!) {
  transportRulesSet(input: $input) {
    ${ERRORS} ... on ForbiddenError { requiredScope } ... on TransportRulesPayload { rules { ${RULE} } }
  }
}`;
const relay = { name: 'Relay', kind: 'SMTP', host: 'Relay.example.com', username: 'shop', password: CANARY };

async function addRelay(fields = {}): Promise<string> {
  const { data } = await graphql.ask(create, { input: { ...relay, ...fields } });
  return (data as { transportCreate: { transport: { id: string } } }).transportCreate.transport.id;
}

describe('transports over GraphQL', () => {
  it('can be created, listed, changed and deleted', async () => {
    const { data: creation } = await graphql.ask(create, { input: relay });
    const { transport } = (creation as { transportCreate: { transport: { id: string } } }).transportCreate;
    const { data: list } = await graphql.ask(`{ transports { ${TRANSPORT} } }`);
    const { data: change } = await graphql.ask(update, {
      input: { id: transport.id, port: 465, tls: 'IMPLICIT', username: null },
    });
    const { data: deletion } = await graphql.ask(remove, { input: { id: transport.id } });

    const facts = { name: 'Relay', kind: 'SMTP', host: 'relay.example.com' };
    expect(transport).toMatchObject({ ...facts, port: 587, tls: 'STARTTLS', username: 'shop' });
    const delivery = { id: 'default', name: 'DELIVERY', kind: 'CAPTURE', host: null, tls: null, createdAt: null };
    expect(list).toEqual({ transports: [expect.objectContaining(delivery), transport] });
    expect(change).toMatchObject({
      transportUpdate: { transport: { ...facts, port: 465, tls: 'IMPLICIT', username: null } },
    });
    expect(deletion).toMatchObject({ transportDelete: { deletedId: transport.id } });
  });

  it("are rejected as a member of the result union, with the core's reason", async () => {
    const id = await addRelay();
    await graphql.ask(setRules, { input: { rules: [{ transports: [id] }] } });

    const duplicate = await graphql.ask(create, { input: relay });
    const partial = await graphql.ask(create, { input: { name: 'Other', kind: 'SMTP' } });
    const capture = await graphql.ask(create, { input: { name: 'Other', kind: 'CAPTURE' } });
    const used = await graphql.ask(remove, { input: { id } });
    const missing = await graphql.ask(remove, { input: { id: `trn_${'0'.repeat(26)}` } });
    const absent = await graphql.ask(update, { input: { id: `trn_${'0'.repeat(26)}`, port: 25 } });

    expect(duplicate.data).toMatchObject({
      transportCreate: { __typename: 'StateError', reason: 'transport_exists' },
    });
    expect(partial.data).toMatchObject({ transportCreate: { reason: 'missing_field', fields: [{ path: ['host'] }] } });
    expect(capture.data).toMatchObject({ transportCreate: { __typename: 'InvalidInputError' } });
    expect(used.data).toMatchObject({ transportDelete: { __typename: 'StateError', reason: 'transport_in_use' } });
    expect(missing.data).toMatchObject({
      transportDelete: { __typename: 'NotFoundError', reason: 'transport_not_found' },
    });
    expect(absent.data).toMatchObject({ transportUpdate: { reason: 'transport_not_found' } });
  });

  it('show their passwords in no response, log line or audit entry', async () => {
    const id = await addRelay();
    const responses = await Promise.all([
      graphql.ask(update, { input: { id, password: `${CANARY}-2` } }),
      graphql.ask(create, { input: relay }),
      graphql.ask(create, { input: { ...relay, name: 'Partial', username: null } }),
      graphql.ask(create, { input: { ...relay, name: 'Long', password: CANARY.repeat(50) } }),
      graphql.ask(create, { input: { ...relay, password: [CANARY] } }),
      graphql.ask(create, { input: { kind: 'SMTP', password: CANARY } }),
      graphql.ask(`mutation { transportCreate(input: { password: "${CANARY}" }) { __typename } }`),
      graphql.ask(`{ transports { ${TRANSPORT} password } }`),
      graphql.ask(`{ transports { ${TRANSPORT} } auditLog { nodes { action diff } } }`),
    ]);
    const audit = await invoke(world.as(world.workspace_id), listAudit, { chain: 'instance', limit: 100 });

    expect(audit.data.map(({ action }) => action)).toContain('transport.updated');
    const texts = { responses, audit, logged: world.logged };
    for (const [name, text] of Object.entries(texts)) expect(JSON.stringify(text), name).not.toContain(CANARY);
  });
});

describe('transport rules over GraphQL', () => {
  it('replace each other, in order', async () => {
    const id = await addRelay();
    const { workspace_id: workspaceId } = world;
    const rules = [
      { workspaceId, priority: 'BULK', transports: [id, 'default'] },
      { fromDomain: 'Shop.example.com', tag: 'receipt', destination: 'example.net', transports: ['default'] },
    ];

    const result = await graphql.ask(setRules, { input: { rules } });

    const any = { workspaceId: null, fromDomain: null, tag: null, priority: null, destination: null };
    const stored = [
      { ...any, ...rules[0] },
      { ...any, ...rules[1], fromDomain: 'shop.example.com' },
    ];
    expect(result.data).toMatchObject({ transportRulesSet: { rules: stored } });
    expect((await graphql.ask(`{ transportRules { ${RULE} } }`)).data).toEqual({ transportRules: stored });
    const none = await graphql.ask(setRules, { input: { rules: [] } });
    expect(none.data).toMatchObject({ transportRulesSet: { rules: [] } });
  });

  it('are rejected if they name a missing transport or workspace', async () => {
    const rule = { transports: [`trn_${'0'.repeat(26)}`] };
    const workspaceId = `${world.workspace_id.slice(0, 8)}0000${world.workspace_id.slice(12)}`;

    const unknown = await graphql.ask(setRules, { input: { rules: [rule] } });
    const foreign = await graphql.ask(setRules, { input: { rules: [{ workspaceId, transports: ['default'] }] } });

    expect(unknown.data).toMatchObject({ transportRulesSet: { reason: 'unknown_transport' } });
    expect(foreign.data).toMatchObject({ transportRulesSet: { reason: 'workspace_not_found' } });
  });

  it('require operator for the instance, as do transports', async () => {
    const { secret: key } = await world.key({ scopes: ['admin'] });

    const change = await graphql.ask(setRules, { input: { reach: 'INSTANCE', rules: [] } }, { key });
    const list = await graphql.ask('{ transports(reach: INSTANCE) { id } }', {}, { key });
    const rules = await graphql.ask('{ transportRules(reach: INSTANCE) { tag } }', {}, { key });

    expect(change.data).toMatchObject({
      transportRulesSet: { __typename: 'ForbiddenError', requiredScope: 'operator' },
    });
    for (const { errors } of [list, rules])
      expect(errors).toMatchObject([{ extensions: { reason: 'missing_scope', requiredScope: 'operator' } }]);
  });
});
