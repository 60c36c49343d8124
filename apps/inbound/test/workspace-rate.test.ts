import { invoke } from '@postrider/core';
import { createPlan } from '@postrider/core/workspaces';
import { openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { afterAll, expect, it } from 'vitest';
import { startSubmission } from '../src/submission.ts';

const world = await openWorld();
await world.domain('good.test');
const submission = await startSubmission(world.services, 0, { implicit: false });
afterAll(() => submission.stop());

it('fairness P15: a submitted message counts once toward the workspace limit, and is rejected beyond it', async () => {
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
  const plan = { name: 'rate', recipients_per_request: 10, workspace_rate: 2 };
  await invoke(world.as(world.workspace_id), createPlan, plan);
  await world.services.sql`update workspaces set plan = 'rate' where id = ${world.workspace_id}`;
  const submit = () =>
    createTransport({ host: '127.0.0.1', port: submission.port, auth: { user: 'api', pass: world.secret } })
      .sendMail({ from: 'shop@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' })
      .then(
        ({ response }) => response,
        (error: { readonly response?: string }) => error.response ?? String(error),
      );

  const replies = [await submit(), await submit(), await submit()];

  expect(replies[0]).toMatch(/^250 /);
  expect(replies[1]).toMatch(/^250 /);
  expect(replies[2]).toMatch(/^451 4\.7\.1 .*2 requests per minute. Retry in 55 s/);
});
