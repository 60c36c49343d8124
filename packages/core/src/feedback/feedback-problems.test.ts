import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../create-context.ts';
import { examineMachine } from '../doctor/index.ts';
import { getHealth } from '../health/index.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { overviewSummary } from '../overview/index.ts';
import { createTransport, setTransportRules, updateTransport } from '../transports/index.ts';
import { setFeedback } from './configure-feedback.ts';
import { feedbackProblems } from './feedback-problems.ts';
import { noteRejection, storeReports } from './feedback-store.ts';

const HOUR_MS = 3_600_000;
const world = await openWorld({ DELIVERY: 'mx' });
const { services, clock } = world;
const { sql } = services;
const owner = await world.workspace('business');
const neighbor = await world.workspace('business');
beforeEach(async () => {
  await clock.freeze(new Date(Date.UTC(2030, 4, 15, 12)));
  await sql`delete from transport_rules`;
  await sql`delete from workspace_transport_rules`;
  await sql`delete from transports`;
});

function actorIn({ workspace_id, key_id }: typeof owner, scopes: readonly Scope[], changes: object = {}): Context {
  const actor = { kind: 'key', workspace_id, key_id, scopes, mode: 'live', domains: null } as const;
  return { ...createContext(services, actor, { via: 'graphql' }), ...changes };
}
const operator = (changes: object = {}) => actorIn(neighbor, ['operator', 'email:logs:read'], changes);
const admin = (workspace = owner) => actorIn(workspace, ['admin']);

const createRelay = async (ctx: Context, name = 'Relay') =>
  (await invoke(ctx, createTransport, { name, kind: 'smtp', host: 'relay.example' })).id;
const setRules = (ctx: Context, ...rules: { tag?: string; transports: string[] }[]) =>
  invoke(ctx, setTransportRules, { rules });
const report = (ctx: Context, transport_id: string) => invoke(ctx, setFeedback, { transport_id, provider: 'generic' });

async function doctor(changes: object = {}) {
  const { checks } = await invoke(operator(changes), examineMachine, {});
  return checks.find(({ name }) => name === 'relay_feedback');
}
const isFeedback = ({ kind }: { readonly kind: string }) => kind.startsWith('feedback_');
const overview = async (ctx: Context) => (await invoke(ctx, overviewSummary, {})).problems.filter(isFeedback);
const health = async (ctx: Context) =>
  (await invoke(ctx, getHealth, {})).checks.find(({ name }) => name === 'relay_feedback');

describe('a relay of the instance', () => {
  it('is reported to operators once a rule uses it, until feedback is set up', async () => {
    const id = await createRelay(operator());
    expect(await doctor()).toMatchObject({ status: 'skipped' });
    expect(await overview(operator())).toEqual([]);

    await setRules(operator(), { tag: 'newsletter', transports: [id, 'default'] });

    expect(await doctor()).toMatchObject({
      status: 'warning',
      detail: 'Relays without feedback: Relay. Bounces that a relay keeps are never seen.',
      fix: expect.stringContaining('transports set-feedback NAME'),
    });
    expect(await overview(operator())).toEqual([
      {
        kind: 'feedback_missing',
        state: 'feedback_missing',
        severity: 'warning',
        count: 1,
        since: null,
        names: ['Relay'],
        page: '/instance/delivery/transports',
      },
    ]);
    expect(await health(operator())).toMatchObject({ status: 'warning', detail: expect.stringContaining('Relay') });
    expect([await overview(admin()), (await health(admin()))?.status]).toEqual([[], 'ok']);
    await report(operator(), id);
    expect(await doctor()).toMatchObject({ status: 'ok', fix: null });
    expect(await overview(operator())).toEqual([]);
  });

  it('is not reported if only a rule after one for all email uses it', async () => {
    const [first, second] = [await createRelay(operator(), 'First'), await createRelay(operator(), 'Second')];

    await setRules(operator(), { transports: [first] }, { tag: 'newsletter', transports: [second] });

    expect(await overview(operator())).toMatchObject([{ names: ['First'] }]);
  });

  it('is not reported if all email goes to the test inbox', async () => {
    await setRules(operator(), { transports: [await createRelay(operator())] });
    const config = { ...services.config, DELIVERY: [{ kind: 'capture' }] };

    expect(await doctor({ config })).toMatchObject({ status: 'skipped' });
    expect(await overview(operator({ config }))).toEqual([]);
  });

  it('is reported if its requests fail their signature check for an hour', async () => {
    const id = await createRelay(operator());
    await setRules(operator(), { transports: [id] });
    await report(operator(), id);
    await sql.begin((tx) => storeReports(tx, id, []));
    const confirmed_at = new Date(clock.now()).toISOString();
    await clock.advance(HOUR_MS / 2);
    await noteRejection(sql, id, 'no such signature');
    expect(await doctor()).toMatchObject({ status: 'ok' });

    await clock.advance(HOUR_MS);
    await noteRejection(sql, id, 'no such signature');

    expect(await doctor()).toMatchObject({
      status: 'warning',
      detail: 'Feedback requests fail their signature check: Relay.',
    });
    expect(await overview(operator())).toMatchObject([
      { kind: 'feedback_rejected', count: 1, since: confirmed_at, names: ['Relay'] },
    ]);
    await sql.begin((tx) => storeReports(tx, id, []));
    expect(await overview(operator())).toEqual([]);
  });

  it('is reported immediately if no request was ever valid', async () => {
    const id = await createRelay(operator());
    await setRules(operator(), { transports: [id] });
    await report(operator(), id);

    await noteRejection(sql, id, 'no such signature');

    expect(await overview(operator())).toMatchObject([{ kind: 'feedback_rejected', names: ['Relay'] }]);
  });
});

describe('a relay of a workspace', () => {
  it('is reported to the admins of that workspace only', async () => {
    const id = await createRelay(admin(), 'Our relay');
    await setRules(admin(), { transports: [id, 'default'] });
    const missing = { kind: 'feedback_missing', count: 1, names: ['Our relay'] };

    expect(await overview(admin())).toMatchObject([
      { ...missing, page: `/w/${owner.workspace_id}/settings/transports` },
    ]);
    expect(await health(admin())).toMatchObject({ status: 'warning' });
    expect([await overview(admin(neighbor)), await overview(operator())]).toEqual([[], []]);
    expect(await overview(actorIn(owner, ['email:logs:read']))).toEqual([]);
    expect(await doctor()).toMatchObject({ status: 'skipped' });
    await report(admin(), id);
    expect(await overview(admin())).toEqual([]);
  });
});

it('a relay without feedback is not reported if it sends bounces to an envelope sender of ours', async () => {
  const config = { ...services.config, RETURN_PATH_DOMAIN: 'bounces.example.com' };
  const kinds = async () => (await feedbackProblems({ sql: services.sql, config }, null)).map(({ kind }) => kind);
  const id = await createRelay(operator());
  await setRules(operator(), { transports: [id] });
  expect(await kinds()).toEqual([]);

  await invoke(operator(), updateTransport, { transport_id: id, envelope_from: 'from_domain' });
  expect(await kinds()).toEqual(['missing']);

  const ses = { envelope_from: 'ours', host: 'email-smtp.eu-central-1.amazonaws.com' };
  await invoke(operator(), updateTransport, { transport_id: id, ...ses });
  expect(await kinds()).toEqual(['missing']);
});

it('the doctor notes a relay in DELIVERY whose bounces by email have nowhere to go', async () => {
  const relay = { kind: 'smtp', host: '127.0.0.1', port: 9, secure: false, user: '', password: '' };
  const config = { ...services.config, DELIVERY: [relay], RETURN_PATH_DOMAIN: undefined };

  expect(await doctor({ config })).toMatchObject({
    status: 'warning',
    fix: 'Set RETURN_PATH_DOMAIN and receive its email: docs/operations.md#bounces.',
  });
  expect(await doctor({ config: { ...config, RETURN_PATH_DOMAIN: 'bounces.example.com' } })).toMatchObject({
    status: 'ok',
  });
});
