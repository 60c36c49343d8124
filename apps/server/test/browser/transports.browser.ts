import { invoke } from '@postrider/core';
import { setTransportRules } from '@postrider/core/transports';
import { words as health } from '@postrider/dashboard/strings/pages/operations/health';
import { words as transports } from '@postrider/dashboard/strings/pages/operations/transports';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

const { form, testing, rules, preview, removing, own } = transports;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

it('an operator creates a relay, sees its health, and tests it', async () => {
  const login = { user: 'shop', pass: 'right' };
  const relay = await startSmtpSink({ login });
  const visitor = await stage.visitor('operator');
  const tab = await visitor.open();
  const { page } = tab;
  await page.goto('/instance/delivery/transports');
  await page.getByText(transports.answer.ok).waitFor();

  await page.getByRole('button', { name: transports.create }).click();
  await page.getByLabel(form.name, { exact: true }).fill('SES');
  await page.getByLabel(form.host).fill(relay.host);
  await page.getByLabel(form.port, { exact: true }).fill(String(relay.port));
  await page.getByLabel(form.tls).selectOption('none');
  await page.getByLabel(form.username).fill(login.user);
  await page.getByLabel(form.password).fill('wrong');
  await page.getByLabel(form.perDay).fill('50000');
  await page.getByRole('dialog').getByRole('button', { name: form.submitNew }).click();
  const table = page.getByRole('table', { name: transports.title });
  const row = table.getByRole('row', { name: /SES/ });
  await row.getByText(transports.today(0, 50_000)).waitFor();
  expect(await axeProblems(page, null)).toEqual([]);

  const test = async () => {
    await page.getByRole('button', { name: transports.actions('SES') }).click();
    await page.getByRole('menuitem', { name: transports.test }).click();
    await page.getByRole('button', { name: testing.submit }).click();
    return page.getByRole('table', { name: testing.results }).getByRole('row', { name: testing.checks.sign_in ?? '' });
  };
  await (await test()).getByText(health.statuses.failing, { exact: true }).waitFor();
  await page.getByRole('button', { name: testing.close }).last().click();

  const edit = page.getByRole('dialog', { name: form.editing('SES') });
  await page.getByRole('link', { name: 'SES' }).click();
  await page.getByLabel(form.password).fill(login.pass);
  await page.getByLabel(form.perDay).fill('60000');
  await page.getByRole('button', { name: form.submit }).click();
  await edit.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'SES' }).click();
  expect(await page.getByLabel(form.perDay).inputValue()).toBe('60000');
  await page.keyboard.press('Escape');
  await (await test()).getByText(health.statuses.ok, { exact: true }).waitFor();
  await page.getByRole('button', { name: testing.close }).last().click();
  expect(await page.content()).not.toContain(login.pass);
  expectQuiet(tab);
  await visitor.stop();
  await relay.stop();
});

it('the headers of a transport are edited by keyboard, and a rejected one shows the reason', async () => {
  const { sql } = stage.world.services;
  const visitor = await stage.visitor('operator');
  const { page } = await visitor.open();
  await page.goto('/instance/delivery/transports');
  await page.getByRole('link', { name: 'SES' }).click();
  const dialog = page.getByRole('dialog');
  const press = async (name: string) => {
    await dialog.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };
  const stored = async () => (await sql`select headers::text from transports where name = 'SES'`)[0]?.headers;

  await press(form.addHeader);
  await page.keyboard.type('X-Stream');
  await page.keyboard.press('Tab');
  await page.keyboard.type('outbound');
  await press(form.addHeader);
  await page.keyboard.type('Subject');
  await press(form.submit);
  await dialog.getByText('The header Subject is set by the service').waitFor();
  expect(await axeProblems(page, null)).toEqual([]);
  await press(form.removeHeader(2));
  await expect.poll(() => dialog.getByLabel(form.headerName(2)).count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(form.addHeader);
  await press(form.submit);
  await page.getByText(form.changed('SES')).waitFor();
  expect(JSON.parse(await stored())).toEqual({ 'X-Stream': 'outbound' });

  await page.reload();
  await page.getByRole('link', { name: 'SES' }).click();
  for (const number of [2, 3, 4, 5]) {
    await press(form.addHeader);
    await dialog.getByLabel(form.headerName(number)).waitFor();
  }
  await dialog.getByText(form.headersFull).waitFor({ state: 'attached' });
  await dialog.getByLabel(form.headerName(2)).fill('x-stream');
  await press(form.submit);
  await dialog.getByText(form.headerTwice('x-stream')).waitFor();
  await press(form.removeHeader(2));
  await press(form.removeHeader(1));
  await press(form.submit);
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(async () => JSON.parse(await stored())).toEqual({});
  await visitor.stop();
});

it('rules are drafted, previewed, and moved by keyboard before they are saved', async () => {
  const { sql } = stage.world.services;
  const visitor = await stage.visitor('operator');
  const tab = await visitor.open();
  const { page } = tab;
  await page.goto('/instance/delivery/transports');
  const add = async (fields: Readonly<Record<string, string>>, transport: string) => {
    await page.getByRole('button', { name: rules.add }).click();
    const dialog = page.getByRole('dialog');
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(value);
    await dialog.getByLabel(rules.first, { exact: true }).selectOption({ label: transport });
    await dialog.getByRole('button', { name: rules.submit }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const list = page.getByRole('list', { name: rules.title });
  const route = async () => {
    await page.getByLabel(rules.fromDomain, { exact: true }).fill('shop.example');
    await page.getByLabel(rules.destination, { exact: true }).fill('example.com');
    await page.getByRole('button', { name: preview.submit }).click();
  };

  await add({ [rules.fromDomain]: 'shop.example' }, 'SES');
  await add({ [rules.destination]: 'example.com' }, 'DELIVERY');
  await route();
  await page.getByText(`${preview.rule(1)} SES.`).waitFor();
  expect(await sql`select from transport_rules`).toHaveLength(0);

  await page.getByRole('button', { name: rules.up(2) }).focus();
  await page.keyboard.press('Enter');
  await list.getByRole('listitem').first().getByText('example.com').waitFor();
  await route();
  await page.getByText(`${preview.rule(1)} DELIVERY.`).waitFor();

  await page.getByRole('button', { name: rules.save }).click();
  await page.getByText(rules.saved).waitFor();
  const stored = await sql`select destination, from_domain from transport_rules order by position`;
  expect(stored).toEqual([
    { destination: 'example.com', from_domain: null },
    { destination: null, from_domain: 'shop.example' },
  ]);
  expectQuiet(tab);
  await visitor.stop();
});

it('a transport that a rule names is not deleted, and can be once the rule is gone', async () => {
  const visitor = await stage.visitor('operator');
  const { page } = await visitor.open();
  await page.goto('/instance/delivery/transports');
  const remove = async () => {
    await page.getByRole('button', { name: transports.actions('SES') }).click();
    await page.getByRole('menuitem', { name: transports.remove }).click();
    await page.getByRole('button', { name: removing.submit }).click();
  };
  await remove();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('button', { name: removing.keep }).click();

  await page.getByRole('button', { name: rules.remove(2) }).click();
  await page.getByRole('button', { name: rules.save }).click();
  await page.getByText(rules.saved).waitFor();
  await remove();

  await page.getByText(removing.done('SES')).waitFor();
  await visitor.stop();
});

const accessibleName = () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;

it('the focus follows a rule that the keyboard moves, and stays near one that it removes', async () => {
  const { world } = stage;
  const drafts = ['tag1', 'tag2', 'tag3'].map((tag) => ({ tag, transports: ['default'] }));
  await invoke(world.as(world.workspace_id), setTransportRules, { reach: 'instance', rules: drafts });
  const visitor = await stage.visitor('operator');
  const { page } = await visitor.open();
  await page.goto('/instance/delivery/transports');
  const list = page.getByRole('list', { name: rules.title });
  const tags = async () => (await list.getByRole('listitem').allInnerTexts()).map((text) => /tag\d/.exec(text)?.[0]);
  const focused = async () => (await page.evaluate(accessibleName))?.trim();

  await page.getByRole('button', { name: rules.up(3) }).focus();
  await page.keyboard.press('Enter');
  expect(await focused()).toBe(rules.up(2));
  await page.keyboard.press('Enter');
  expect(await focused()).toBe(rules.down(1));
  expect(await tags()).toEqual(['tag3', 'tag1', 'tag2']);
  await page.getByRole('button', { name: rules.remove(3) }).focus();
  await page.keyboard.press('Enter');
  expect(await focused()).toBe(rules.remove(2));
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  expect(await focused()).toBe(rules.add);
  await page.getByText(rules.none).waitFor();
  await visitor.stop();
});

describe('the transports of a workspace', () => {
  let shop: Stage;
  beforeAll(async () => {
    shop = await startStage({ DELIVERY: 'mx', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
    await shop.world.domain('shop.example');
  });
  afterAll(() => shop.stop());

  it('are added with rules by an admin, and send its email', async () => {
    const relay = await startSmtpSink();
    const visitor = await shop.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    const dialog = page.getByRole('dialog');
    await page.goto('/settings/transports');
    await page.getByText(own.empty.about).waitFor();
    expect(await axeProblems(page, null)).toEqual([]);

    await page.getByRole('button', { name: transports.create }).click();
    expect(await dialog.getByText(form.kind, { exact: true }).count()).toBe(0);
    await dialog.getByLabel(form.name, { exact: true }).fill('Relay');
    await dialog.getByLabel(form.host).fill(relay.host);
    await dialog.getByLabel(form.port, { exact: true }).fill(String(relay.port));
    await dialog.getByLabel(form.tls).selectOption('none');
    await dialog.getByRole('button', { name: form.submitNew }).click();
    await page.getByText(`${own.ok} ${own.use(1, 10)}`).waitFor();
    await page.getByText(own.rules.none).waitFor();

    await page.getByRole('button', { name: rules.add }).click();
    expect(await dialog.getByLabel(rules.workspace).count()).toBe(0);
    await dialog.getByLabel(rules.fromDomain, { exact: true }).fill('shop.example');
    await dialog.getByLabel(rules.first, { exact: true }).selectOption({ label: 'Relay' });
    await dialog.getByLabel(rules.fallback(1)).selectOption({ label: own.instance });
    await dialog.getByRole('button', { name: rules.submit }).click();
    await dialog.waitFor({ state: 'detached' });
    const previewFrom = async (domain: string) => {
      await page.getByLabel(rules.fromDomain, { exact: true }).fill(domain);
      await page.getByLabel(rules.destination, { exact: true }).fill('example.com');
      await page.getByRole('button', { name: preview.submit }).click();
    };
    await previewFrom('shop.example');
    await page.getByText(`${preview.rule(1)} Relay${rules.next}${own.instance}.`).waitFor();
    await previewFrom('other.example');
    await page.getByText(`${preview.none} ${own.instance}.`).waitFor();
    expect(await axeProblems(page, null)).toEqual([]);
    await page.getByRole('button', { name: rules.save }).click();
    await page.getByText(rules.saved).waitFor();

    await sendMail(shop, { from: 'hello@shop.example', subject: 'Through the relay' });
    await shop.world.drain();
    expect(relay.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(String(raw))?.[1])).toEqual(['Through the relay']);
    expect(shop.world.smtp.messages).toHaveLength(0);
    expectQuiet(tab);
    await visitor.stop();
    await relay.stop();
  });

  it('are explained if the plan includes none, and hidden from members', async () => {
    const { sql } = shop.world.services;
    await sql`delete from workspace_transport_rules`;
    await sql`delete from transports`;
    await sql`update plans set transport_limit = 0`;
    const visitor = await shop.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/settings/transports?open=new');
    await page.getByText(own.excluded.about).waitFor();
    expect(await page.getByRole('button', { name: transports.create }).count()).toBe(0);
    await visitor.stop();

    const member = await shop.visitor('member');
    const { page: memberPage } = await member.open();
    await memberPage.goto('/emails');
    await memberPage.getByRole('navigation', { name: shell.menu }).waitFor();
    expect(await memberPage.locator('a[href*="/settings/transports"]').count()).toBe(0);
    await member.stop();
  });
});
