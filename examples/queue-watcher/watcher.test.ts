import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { problemOf } from './watcher.ts';

const { POSTRIDER_URL: url = 'http://localhost:3000', POSTRIDER_API_KEY: key = '' } = process.env;

/** Sends a GraphQL document. */
async function ask<T>(query: string, variables: object = {}): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
  assert.equal(errors, undefined);
  return data;
}

test('a queue whose jobs wait, fail or are paused is a problem', () => {
  const quiet = { name: 'q', ready: 3, active: 1, dead: 0, oldestReadySeconds: 2, paused: null };
  assert.equal(problemOf(quiet), null);
  assert.match(problemOf({ ...quiet, oldestReadySeconds: 61 }) ?? '', /waited 61 s/);
  assert.match(problemOf({ ...quiet, dead: 2 }) ?? '', /2 jobs/);
  assert.match(problemOf({ ...quiet, paused: { reason: 'maintenance' } }) ?? '', /maintenance/);
});

// Postrider measures its queues every ten seconds.
test('the watcher prints when a queue is paused and when it runs again', { timeout: 60_000 }, async () => {
  const watcher = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  watcher.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const printed = async (text: string) => {
    while (!out.includes(text)) await once(watcher.stdout, 'data');
  };
  try {
    await printed('Watching');
    const { holdCreate } = await ask<{ holdCreate: { hold?: { id: string } } }>(
      'mutation ($input: HoldInput!) { holdCreate(input: $input) { ... on HoldPayload { hold { id } } } }',
      { input: { scope: 'QUEUE', value: 'webhook.deliver', reason: 'maintenance' } },
    );
    assert.ok(holdCreate.hold, 'the key needs the scope operator');
    await printed('webhook.deliver: paused (maintenance)');
    await ask('mutation ($input: HoldReleaseInput!) { holdRelease(input: $input) { __typename } }', {
      input: { id: holdCreate.hold.id, atOnce: true },
    });
    await printed('webhook.deliver: fine again');
  } finally {
    watcher.kill('SIGINT');
    await once(watcher, 'exit');
  }
});
