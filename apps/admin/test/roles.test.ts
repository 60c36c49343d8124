import { newId } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { appRouter } from '../src/trpc/router.ts';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);

const roles = ['viewer', 'member', 'admin', 'operator'] as const;
type Role = (typeof roles)[number];

const id = (kind: Parameters<typeof newId>[0]) => newId(kind, Date.UTC(2030, 0, 1));
const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hello.' };
const message = { id: id('message') };
const webhook = { id: id('webhook') };
const domain = { domain: 'absent.example.com' };
const key = { key_id: id('api_key') };
const user = { user_id: id('user') };
const job = { id: id('job') };
const transport = { transport_id: id('transport') };

/**
 * The lowest role that may call each mutation, and a well-formed input. A permitted call succeeds or does not find its
 * target.
 */
const mutations: Readonly<Record<string, readonly [Role, Readonly<Record<string, unknown>>]>> = {
  'alarms.acknowledge': ['admin', { alarm_id: id('alarm') }],
  'alarms.rotateSecret': ['admin', {}],
  'alarms.setSettings': ['admin', { emails: [] }],
  'alarms.test': ['admin', {}],
  'apiKeys.create': ['admin', { name: 'Shop', scopes: ['email:send'] }],
  'apiKeys.revoke': ['admin', key],
  'apiKeys.rotate': ['admin', key],
  'captures.clear': ['admin', {}],
  'captures.delete': ['admin', { id: id('capture') }],
  'captures.release': ['admin', { id: id('capture') }],
  'deliveries.replay': ['member', { ...webhook, delivery_id: id('webhook_delivery') }],
  'destinations.limit': ['operator', { name: 'example.com', per_minute: 10 }],
  'destinations.release': ['operator', { name: 'example.com' }],
  'domains.create': ['member', { name: 'new.example.com' }],
  'domains.delete': ['member', domain],
  'domains.examine': ['viewer', domain],
  'domains.resume': ['operator', domain],
  'domains.rotateKeys': ['member', domain],
  'domains.suspend': ['operator', { ...domain, reason: 'A test' }],
  'domains.update': ['member', domain],
  'domains.verify': ['member', domain],
  'emails.cancel': ['member', message],
  'emails.giveUp': ['admin', message],
  'emails.reschedule': ['member', { ...message, scheduled_at: '2030-01-01T00:00:00Z' }],
  'emails.resend': ['member', message],
  'emails.retryNow': ['member', message],
  'emails.sendNow': ['member', message],
  'erasures.start': ['admin', { email: 'erased@example.com' }],
  'holds.create': ['admin', { scope: 'sender_domain', value: 'sandbox.test', reason: 'A test' }],
  'holds.release': ['admin', { hold_id: id('hold') }],
  'invitations.create': ['admin', { email: 'new@people.test', role: 'viewer' }],
  'invitations.resend': ['admin', { id: id('invitation') }],
  'invitations.revoke': ['admin', { id: id('invitation') }],
  'members.remove': ['admin', user],
  'members.setRole': ['admin', { ...user, role: 'viewer' }],
  'operators.remove': ['operator', user],
  'ops.bulkCancel': ['admin', { id: id('bulk') }],
  'ops.bulkPreview': ['admin', { action: 'retry', filter: {} }],
  // A preview token is valid only for its actor, and only admins can get one.
  'ops.bulkRun': ['viewer', { token: 'none', reason: 'A test' }],
  'ops.jobs.cancel': ['operator', job],
  'ops.jobs.retry': ['operator', job],
  'ops.jobs.runNow': ['operator', job],
  'ops.schedules.run': ['operator', { name: 'numbers.roll_up' }],
  'ops.setConcurrency': ['operator', { queue: 'webhook.close', concurrency: 2 }],
  'people.changePassword': ['viewer', { password: 'wrong', new_password: 'correct horse: battery' }],
  'people.endOtherSessions': ['viewer', {}],
  'people.beginTotp': ['viewer', {}],
  'people.activateTotp': ['viewer', { code: '000000' }],
  'people.removeTotp': ['viewer', {}],
  'people.renewRecoveryCodes': ['viewer', {}],
  'people.setName': ['viewer', { name: 'Ada' }],
  'people.setSignInPolicy': ['admin', { second_factor: 'optional' }],
  'people.endSession': ['viewer', { session_id: id('session') }],
  'people.switchWorkspace': ['viewer', { workspace_id: world.workspace_id }],
  'plans.create': ['operator', { name: 'small', recipients_per_request: 50 }],
  'plans.delete': ['operator', { name: 'absent' }],
  'plans.update': ['operator', { name: 'absent', send_per_minute: 10 }],
  'session.token': ['viewer', {}],
  'suppressions.add': ['admin', { emails: ['gone@example.com'] }],
  'suppressions.remove': ['admin', { email: 'gone@example.com' }],
  'test.send': ['member', mail],
  'transports.create': ['admin', { name: 'SES', kind: 'smtp', host: 'relay.example.com' }],
  'transports.delete': ['admin', transport],
  'transports.preview': ['admin', { from_domain: 'shop.example', to_domain: 'example.com' }],
  'transports.removeFeedback': ['admin', transport],
  'transports.setFeedback': ['admin', { ...transport, provider: 'generic' }],
  'transports.setRules': ['admin', { rules: [] }],
  'transports.test': ['admin', transport],
  'transports.update': ['admin', { ...transport, name: 'SES' }],
  'webhooks.create': ['member', { url: 'https://example.com/hooks', events: ['email.delivered'] }],
  'webhooks.delete': ['member', webhook],
  'webhooks.recover': ['member', { ...webhook, since: '2029-12-31T00:00:00Z' }],
  'webhooks.rotateSecret': ['member', webhook],
  'webhooks.test': ['member', webhook],
  'webhooks.update': ['member', { ...webhook, events: ['email.delivered'] }],
  'workspaces.create': ['operator', { name: 'Shop', plan: 'business' }],
  'workspaces.setPlan': ['operator', { id: id('workspace'), plan: 'business' }],
  'workspaces.update': ['admin', { name: 'Acme' }],
};

/** Each call uses a new session because some mutations end the session. */
const cookieOf = async (role: Role) => (await signedIn(world, admin, role)).cookie;

/** Returns the error code, or null if the call was not rejected. */
async function failureOf(path: string, input: unknown, cookie: string): Promise<string | null> {
  const response = await fetch(`http://127.0.0.1:${admin.port}/trpc/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-postrider': '1', cookie },
    body: JSON.stringify(input),
  });
  const { error } = (await response.json()) as { error?: { data?: { code?: string } } };
  return error?.data?.code ?? null;
}

describe('a dashboard mutation', () => {
  it('is covered by this table', () => {
    // The cast is safe because the router is typed as a tree but is a single record by path at runtime.
    const procedures = appRouter._def.procedures as unknown as Record<string, { readonly _def: { type: string } }>;
    const all = Object.entries(procedures)
      .filter(([, { _def }]) => _def.type === 'mutation')
      .map(([path]) => path);

    expect(Object.keys(mutations).toSorted()).toEqual(all.toSorted());
  });

  it.each(Object.entries(mutations))(
    '%s is denied to lower roles, and to people who are not signed in',
    async (path, [lowest, input]) => {
      const below = roles.slice(0, roles.indexOf(lowest));

      const codes = await Promise.all(below.map(async (role) => failureOf(path, input, await cookieOf(role))));

      expect(codes).toEqual(below.map(() => 'forbidden'));
      expect(await failureOf(path, input, '')).toBe('unauthorized');
      expect(await failureOf(path, input, await cookieOf(lowest))).not.toBe('forbidden');
    },
  );
});
