import { deliveryStates } from '@postrider/core/delivery';
import { words as stats } from '@postrider/dashboard/strings/pages/stats';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const names = [...deliveryStates, 'captured'] as const;

/** Sends an email and moves it to a status, as the worker would. */
async function sendAs(name: (typeof names)[number]): Promise<string> {
  const id = await sendMail(stage, { to: [`${name}@example.com`, 'bob@example.com'], subject: `Is ${name}` });
  const { sql } = stage.world.services;
  const state = name === 'captured' ? 'delivered' : name;
  await sql`
    update recipients set state = ${state}, captured = ${name === 'captured'}, due_at = clock_now() + interval '1 hour'
    where message_id = ${id}`;
  await sql`update messages set status = ${state} where id = ${id}`;
  return id;
}

describe('an email of each status, and a captured one', () => {
  it('has the same word in the list and the detail, and the same fields in REST and GraphQL', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    for (const name of names) {
      const id = await sendAs(name);
      const [word] = parts.statuses[name];
      const status = name === 'captured' ? 'delivered' : name;
      const fields = { status, captured: name === 'captured' };

      await page.goto(`/emails?q=to:${name}@example.com`);
      const row = page.getByRole('row', { name: `Is ${name}` });
      await row.getByText(word, { exact: true }).waitFor();
      await row.getByRole('link').first().click();
      const heading = page.getByRole('dialog').getByRole('heading', { level: 1 });
      await heading.getByText(word, { exact: true }).waitFor();
      expect(await heading.innerText(), name).not.toContain(parts.statuses[otherWord(name)][0]);

      expect(await restFields(id)).toEqual({ ...fields, recipients: [fields, fields] });
      expect(await graphqlFields(id)).toEqual({ ...fields, recipients: [fields, fields] });
    }
    expect(new Set(names.map((name) => parts.statuses[name][0])).size).toBe(names.length);
    await visitor.stop();
  });

  it('have the same words on the statistics page', () => {
    for (const name of ['delivered', 'captured', 'bounced', 'deferred', 'failed', 'complained'] as const)
      expect(stats.metrics[name]).toBe(parts.statuses[name][0]);
  });
});

/** A captured email must not also say Delivered, and the other way round. */
function otherWord(name: (typeof names)[number]) {
  return name === 'captured' ? ('delivered' as const) : ('captured' as const);
}

interface Fields {
  readonly status: string;
  readonly captured: boolean;
}

const fieldsOf = ({ status, captured }: Fields) => ({ status: status.toLowerCase(), captured });

async function restFields(id: string) {
  const response = await fetch(`${stage.origin}/v1/email/${id}`, {
    headers: { authorization: `Bearer ${stage.world.secret}` },
  });
  const body = (await response.json()) as Fields & { readonly recipients: readonly Fields[] };
  return { ...fieldsOf(body), recipients: body.recipients.map(fieldsOf) };
}

async function graphqlFields(id: string) {
  const query = `query ($id: ID!) { node(id: $id) { ... on Message {
    status captured recipients(first: 10) { nodes { status captured } } } } }`;
  const response = await fetch(`${stage.origin}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.world.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { id } }),
  });
  const { data } = (await response.json()) as {
    data: { node: Fields & { readonly recipients: { readonly nodes: readonly Fields[] } } };
  };
  return { ...fieldsOf(data.node), recipients: data.node.recipients.nodes.map(fieldsOf) };
}
