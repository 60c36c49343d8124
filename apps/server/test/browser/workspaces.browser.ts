import { AppError, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createHold } from '@postrider/core/holds';
import { hashPassword, insertUser } from '@postrider/core/people';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook } from '@postrider/core/webhooks';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';

const PASSWORD = 'correct horse: battery';

interface Seeded {
  readonly id: string;
  /** Part of the name of everything in the workspace. */
  readonly name: string;
  readonly email_id: string;
}

let stage: Stage;
let north: Seeded;
let south: Seeded;
beforeAll(async () => {
  stage = await startStage();
  north = await seed('North');
  south = await seed('South');
  for (const { id } of [north, south]) await join('both@people.test', id);
  await join('south@people.test', south.id);
});
afterAll(() => stage.stop());

/** Creates a workspace with one of each object that a list shows, each named after the workspace. */
async function seed(name: string): Promise<Seeded> {
  const { world } = stage;
  const { services, clock } = world;
  const { workspace_id: id } = await world.workspace('business');
  await services.sql`update workspaces set name = ${`${name} Inc.`} where id = ${id}`;
  const ctx = world.as(id);
  await world.domain(`${name.toLowerCase()}.test`, id);
  const from = `a@${name.toLowerCase()}.test`;
  const mail = { from, to: `${name}@example.com`, subject: `${name} letter`, text: name };
  const { id: email_id } = await invoke(ctx, sendMessage, mail);
  await world.drain();
  await invoke(ctx, createWebhook, { url: `https://${name}.example.com/hook` });
  await invoke(ctx, createSuppressions, { suppressions: [{ email: `${name}-gone@example.com` }] });
  await invoke(ctx, createHold, {
    scope: 'sender_domain',
    value: `${name.toLowerCase()}.test`,
    reason: `${name} rests`,
  });
  await services.sql`update api_keys set name = ${`${name} key`} where workspace_id = ${id}`;
  services.request_log.note({
    id: newId('request', clock.now()),
    api: 'rest',
    method: 'GET',
    path: `/v1/${name}`,
    status: 404,
    error: new AppError('route_not_found', `No route /v1/${name}.`),
    actor: { kind: 'system', workspace_id: id },
    secret_hash: null,
    address: '127.0.0.1',
    input: undefined,
    duration_ms: 1,
  });
  await services.request_log.flush();
  return { id, name, email_id };
}

/** Adds a user, who may already have another workspace, as an admin of a workspace. */
async function join(email: string, workspace_id: string): Promise<void> {
  const { services, clock } = stage.world;
  const password_hash = await hashPassword(PASSWORD);
  await insertUser(services.sql, {
    id: newId('user', clock.now()),
    email,
    password_hash,
    operator: false,
    vouched: true,
  });
  await services.sql`
    insert into members (workspace_id, user_id, role, created_at)
    select ${workspace_id}, id, 'admin', clock_now() from users where email = ${email}`;
}

async function signInAs(page: Page, email: string): Promise<void> {
  await page.getByLabel(signIn.email).fill(email);
  await page.getByLabel(signIn.password).fill(PASSWORD);
  await page.getByRole('button', { name: signIn.submit }).click();
}

/** Eleven pages, each one click from the page before, and whether each names something of its workspace. */
const walk = [
  ['/emails', true],
  ['/domains', true],
  ['', false],
  ['/webhooks', true],
  ['/suppressions', true],
  ['/settings/api-keys', true],
  ['/settings/members', false],
  ['/settings/audit-log', true],
  ['/logs', true],
  ['/delivery/backlog', false],
  ['/delivery/holds', true],
] as const;

describe('two tabs on two workspaces', () => {
  it('show nothing of one under the name of the other', async () => {
    const visitor = await stage.visitor(null);
    const { page: first } = await visitor.open();
    await first.goto('/login');
    await signInAs(first, 'both@people.test');
    await first.getByRole('navigation').first().waitFor();
    const { page: second } = await visitor.open();
    const tabs = [
      { page: first, own: north, other: south },
      { page: second, own: south, other: north },
    ];
    for (const { page, own } of tabs) await page.goto(`/w/${own.id}`);

    for (const [path, names_objects] of walk) {
      for (const { page, own, other } of tabs) {
        // By a link in the page, so that the tab keeps what it has loaded before.
        await page.locator(`:is(.nav, .tabs) a[href="/w/${own.id}${path}"]`).first().click();
        await page.locator('main h1:visible').waitFor();
        await page.waitForLoadState('networkidle');
        if (names_objects) await page.locator('main').getByText(new RegExp(own.name, 'i')).first().waitFor();
        const text = await page.locator('body').innerText();
        expect(text, `${path} of ${own.name}`).not.toMatch(new RegExp(other.name, 'i'));
        expect(await page.title(), path).toContain(`${own.name} Inc.`);
        await page.getByRole('button', { name: shell.workspace.menu(`${own.name} Inc.`) }).waitFor();
      }
    }
    await visitor.stop();
  });

  it('each follow the changes of their own workspace', async () => {
    const visitor = await stage.visitor(null);
    const { page: first } = await visitor.open();
    await first.goto(`/login?next=/w/${north.id}/emails`);
    await signInAs(first, 'both@people.test');
    await first.getByText('North letter').first().waitFor();
    const { page: second } = await visitor.open();
    await second.goto(`/w/${south.id}/suppressions`);
    await second.getByText('South-gone', { exact: false }).first().waitFor();

    await invoke(stage.world.as(south.id), createSuppressions, { suppressions: [{ email: 'South-late@example.com' }] });
    await invoke(stage.world.as(north.id), createSuppressions, { suppressions: [{ email: 'North-late@example.com' }] });

    await second.reload();
    await second.getByText('south-late@example.com').waitFor();
    expect(await second.getByText('north-late@example.com').count()).toBe(0);
    await visitor.stop();
  });
});

describe('a link to an email of a workspace', () => {
  it('opens it for a member and for an operator', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();

    await page.goto(`/w/${north.id}/emails/${north.email_id}`);

    await page.getByRole('heading', { name: 'North letter' }).waitFor();
    await page.getByText(detail.trace.title).waitFor();
    expect(await page.title()).toContain('North Inc.');
    await visitor.stop();
  });

  it('opens it after sign-in for a stranger who has access', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto(`/w/${south.id}/emails/${south.email_id}?recipient=x`);
    await page.waitForURL('**/login?*');

    await signInAs(page, 'south@people.test');

    await page.getByRole('heading', { name: 'South letter' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/w/${south.id}/emails/${south.email_id}`);
    await visitor.stop();
  });

  it('shows a member of another workspace nothing of it, and the way to their own', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto(`/w/${north.id}/emails/${north.email_id}`);
    await page.waitForURL('**/login?*');

    await signInAs(page, 'south@people.test');

    await page.getByRole('heading', { name: shell.noAccess.title }).waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/North/);
    await page.getByRole('link', { name: shell.noAccess.home }).click();
    await page.getByRole('button', { name: shell.workspace.menu('South Inc.') }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/w/${south.id}`);
    await visitor.stop();
  });

  it('lets them sign in as someone else, who then sees it', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto(`/login?next=/w/${north.id}/emails/${north.email_id}`);
    await signInAs(page, 'south@people.test');
    await page.getByRole('button', { name: shell.noAccess.signIn }).click();
    await page.getByRole('heading', { name: signIn.title }).waitFor();

    await signInAs(page, 'both@people.test');

    await page.getByRole('heading', { name: 'North letter' }).waitFor();
    await visitor.stop();
  });
});
