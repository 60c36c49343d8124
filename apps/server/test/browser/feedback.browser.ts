import { invoke } from '@postrider/core';
import { getFeedback, setFeedback } from '@postrider/core/feedback';
import { hashPassword } from '@postrider/core/people';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { words as transports } from '@postrider/dashboard/strings/pages/operations/transports';
import { words as feedback } from '@postrider/dashboard/strings/pages/operations/transports/feedback';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { type SmtpSink, startSmtpSink, totpCode } from '@postrider/testing';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, sendMail, stage_totp_secret, startStage } from './dashboard.ts';

const { setting, shown, removing, events } = feedback;

let stage: Stage;
let relay: SmtpSink;
let transport_id: string;
beforeAll(async () => {
  stage = await startStage({ DELIVERY: 'mx', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  relay = await startSmtpSink();
  const { world } = stage;
  await world.domain('shop.example');
  const own = { name: 'Relay', kind: 'smtp', host: relay.host, port: relay.port, tls: 'none', reach: 'workspace' };
  transport_id = (await invoke(world.as(world.workspace_id), createTransport, own)).id;
  const rules = [{ transports: [transport_id] }];
  await invoke(world.as(world.workspace_id), setTransportRules, { reach: 'workspace', rules });
});
afterAll(async () => {
  await stage.stop();
  await relay.stop();
});

async function openFeedback(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('button', { name: transports.actions('Relay') }).click();
  await page.getByRole('menuitem', { name: transports.feedback }).click();
  await page.getByRole('dialog', { name: feedback.title('Relay') }).waitFor();
}

/** Returns the status of the response to a report, signed as a relay would. */
async function report(url: string, secret: string, body: object): Promise<number> {
  const text = JSON.stringify(body);
  const id = `evt_${Math.random()}`;
  const at = new Date();
  const response = await fetch(stage.origin + new URL(url).pathname, {
    method: 'POST',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, text),
    },
    body: text,
  });
  await response.arrayBuffer();
  return response.status;
}

it('an admin sets up feedback for a relay, sees its reports, and removes it', async () => {
  const visitor = await stage.visitor('admin');
  const tab = await visitor.open();
  const { page } = tab;
  await openFeedback(page, '/settings/transports');
  const drawer = page.getByRole('dialog', { name: feedback.title('Relay') });
  await drawer.getByText(feedback.empty.about).waitFor();
  expect(await axeProblems(page, null)).toEqual([]);

  await drawer.getByRole('button', { name: feedback.set }).click();
  const dialog = page.getByRole('dialog', { name: setting.title('Relay') });
  expect(await dialog.getByLabel(feedback.provider).inputValue()).toBe('generic');
  expect(await axeProblems(page, null)).toEqual([]);
  await dialog.getByRole('button', { name: setting.submit }).click();
  const credentials = page.getByRole('dialog', { name: shown.title('Relay') });
  const url = (await credentials.getByRole('region', { name: feedback.url }).innerText()).trim();
  const secret = (await credentials.getByRole('region', { name: feedback.secret }).innerText()).trim();
  expect(secret).toMatch(/^whsec_/);
  expect(await axeProblems(page, null)).toEqual([]);
  await page.keyboard.press('Escape');
  await credentials.getByText(shown.guard).waitFor();
  await credentials.getByLabel(shown.stored).check();
  await credentials.getByRole('button', { name: shown.done, exact: true }).last().click();
  await credentials.waitFor({ state: 'detached' });
  await drawer.getByText(feedback.answer.none).waitFor();
  expect((await drawer.getByRole('region', { name: feedback.url }).innerText()).trim()).toBe(url);
  expect(await page.content()).not.toContain(secret);

  const email_id = await sendMail(stage, { from: 'hello@shop.example', to: 'gone@example.com' });
  await stage.world.drain();
  const message = await relay.waitFor(({ envelope_to }) => envelope_to.includes('gone@example.com'));
  const ref = /^X-Postrider-Ref: (\S+)\r\n/.exec(message.raw.toString('latin1'))?.[1] ?? '';
  const bounce = { type: 'bounced', ref, status: '5.1.1', diagnostic: '550 5.1.1 no such user' };
  expect(await report(url, secret, bounce)).toBe(200);
  const table = drawer.getByRole('table', { name: events.title });
  const row = table.getByRole('row', { name: events.kinds.bounced });
  await row.getByText(events.states.recorded[0]).waitFor();
  expect(await row.getByRole('link').getAttribute('href')).toContain(email_id);
  await drawer.getByText(feedback.answer.received).waitFor();

  const stranger = { type: 'complained', message_id: 'other@example.com', recipient: 'ada@example.net' };
  expect(await report(url, secret, stranger)).toBe(200);
  await table.getByRole('row', { name: events.kinds.complained }).getByText('ada@example.net').waitFor();
  expect(await report(url, 'whsec_bm90IHRoZSBzZWNyZXQ=', bounce)).toBe(401);
  await drawer.getByText(feedback.answer.rejected).waitFor();
  const { rejection } = (await invoke(stage.world.as(stage.world.workspace_id), getFeedback, { transport_id })) ?? {};
  await drawer.getByText(rejection ?? '').waitFor();
  expect(await axeProblems(page, null)).toEqual([]);

  await drawer.getByRole('button', { name: feedback.remove }).click();
  const question = page.getByRole('dialog', { name: removing.title('Relay') });
  await question.getByRole('button', { name: removing.keep }).click();
  await drawer.getByText(feedback.answer.rejected).waitFor();
  await drawer.getByRole('button', { name: feedback.remove }).click();
  await question.getByRole('button', { name: removing.submit }).click();
  await drawer.getByText(feedback.empty.about).waitFor();
  expect(await report(url, secret, bounce)).toBe(401);
  expectQuiet(tab);
  await visitor.stop();
});

it('an operator replaces the URL and secret after confirming the password, and the previous ones still work', async () => {
  const { world } = stage;
  const { sql } = world.services;
  const ctx = world.as(world.workspace_id);
  const password = 'correct horse: battery';
  await sql`update transports set workspace_id = null`;
  const previous = await invoke(ctx, setFeedback, { transport_id, provider: 'generic' });
  const visitor = await stage.visitor('operator');
  await sql`update users set password_hash = ${await hashPassword(password)} where operator`;
  const { page } = await visitor.open();
  await openFeedback(page, '/instance/delivery/transports');
  const drawer = page.getByRole('dialog', { name: feedback.title('Relay') });
  const dialog = page.getByRole('dialog', { name: setting.replacing('Relay') });
  const replace = () => dialog.getByRole('button', { name: setting.submitReplaced }).click();

  await drawer.getByRole('button', { name: feedback.replace }).click();
  await dialog.getByText(setting.overlap).waitFor();
  await world.clock.advance(3_700_000);
  await replace();
  const prompt = page.getByRole('dialog', { name: shell.session.password.title });
  await prompt.getByLabel(shell.session.password.field).fill(password);
  await prompt.getByRole('button', { name: shell.session.password.submit }).click();
  await prompt.getByLabel(shell.session.code).fill(totpCode(stage_totp_secret, world.clock.now()));
  await prompt.getByRole('button', { name: shell.session.password.submit }).click();
  const credentials = page.getByRole('dialog', { name: shown.title('Relay') });
  const url = (await credentials.getByRole('region', { name: feedback.url }).innerText()).trim();
  expect(url).not.toBe(previous.url);
  await credentials.getByLabel(shown.stored).check();
  await credentials.getByRole('button', { name: shown.done, exact: true }).last().click();
  await drawer.getByText(feedback.accepted).waitFor();
  const delay = { type: 'delayed', message_id: 'other@example.com', recipient: 'ada@example.net' };
  expect(await report(previous.url, previous.secret ?? '', delay)).toBe(200);
  await drawer.getByRole('row', { name: events.kinds.delayed }).waitFor();

  const { mailgun } = feedback.providers;
  await drawer.getByRole('button', { name: feedback.replace }).click();
  await dialog.getByLabel(feedback.provider).selectOption({ label: mailgun.name });
  const field = dialog.getByLabel(mailgun.secret?.label ?? '');
  await replace();
  await dialog.getByText(setting.missing(mailgun.secret?.label ?? '')).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await field.fill('a signing key');
  await replace();
  const result = page.getByRole('dialog', { name: shown.titleOfUrl('Relay') });
  await result.getByText(mailgun.setup).waitFor();
  expect(await result.getByRole('region', { name: feedback.secret }).count()).toBe(0);
  await result.getByRole('button', { name: shown.done, exact: true }).last().click();
  await drawer.getByText(mailgun.name, { exact: true }).waitFor();
  await visitor.stop();
});
