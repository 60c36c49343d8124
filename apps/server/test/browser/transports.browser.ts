import { words as health } from '@postrider/dashboard/strings/pages/operations/health';
import { words as transports } from '@postrider/dashboard/strings/pages/operations/transports';
import { startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, startStage } from './dashboard.ts';

const { form, testing, rules, preview, removing } = transports;

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

  await page.getByRole('link', { name: 'SES' }).click();
  await page.getByLabel(form.password).fill(login.pass);
  await page.getByRole('button', { name: form.submit }).click();
  await page.getByText(form.changed('SES')).waitFor();
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
