// Builds and starts the app, submits its form as a browser without JavaScript does, and reads the test inbox.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Postrider } from '@postrider/sdk';

const next = ['node_modules/next/dist/bin/next'];
const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;
const postrider = new Postrider();
let server: ChildProcess | undefined;
let url = '';

before(async () => {
  const build = spawn(process.execPath, [...next, 'build'], { cwd: import.meta.dirname, env, stdio: 'inherit' });
  const [code] = await once(build, 'exit');
  assert.equal(code, 0, 'next build failed');

  server = spawn(process.execPath, [...next, 'start', '--port', '0'], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  url = await urlOf(server);
});

after(async () => {
  if (server?.exitCode !== null) return;
  server.kill();
  await once(server, 'exit');
});

test('the form sends one receipt, even if it is submitted twice', async () => {
  const email = `ada-${crypto.randomUUID()}@example.com`;

  const pages = await Promise.all([submit(email), submit(email)]);

  for (const page of pages) assert.match(page, /role="status"[^>]*>Receipt sent to/);
  const first = (await postrider.captures.list({ to: email, wait: 30 })).data[0];
  assert.ok(first, 'no email arrived');
  const { subject, html, text } = await postrider.captures.get(first.id);
  assert.equal(subject, 'Your receipt for order 1815');
  assert.match(html ?? '', /<html[^>]* lang="en"/);
  assert.match(html ?? '', /<h1[^>]*>Order (?:<!-- -->)?1815<\/h1>/);
  assert.match(html ?? '', /1 &lt;envelope&gt;/);
  assert.match(html ?? '', /<strong>Total: (?:<!-- -->)?\$8\.70<\/strong>/);
  assert.match(text ?? '', /Total: \$8\.70/);
  assert.equal((await postrider.email.logs({ to: email })).data.length, 1);
});

test('the page shows an error for an invalid address', async () => {
  const page = await submit('not an address');

  assert.match(page, /role="alert"[^>]*>This is not a valid email address\./);
});

/** Returns the address that Next.js prints when it listens. */
function urlOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    stdout?.on('data', (chunk: Buffer) => {
      output += chunk;
      const [, address] = /Local:\s+(http:\/\/\S+)[\s\S]*Ready/.exec(output) ?? [];
      if (address) resolve(address);
    });
    stdout?.once('end', () => reject(new Error(`next start ended: ${output}`)));
  });
}

/** Loads the page, fills in its form with the hidden fields that Next.js added, and returns the next page. */
async function submit(email: string): Promise<string> {
  const page = await (await fetch(url)).text();
  const form = new FormData();
  for (const [input] of page.matchAll(/<input\b[^>]*type="hidden"[^>]*>/g))
    form.set(attribute(input, 'name'), attribute(input, 'value'));
  form.set('email', email);
  const response = await fetch(url, { method: 'POST', headers: { origin: url }, body: form });
  assert.equal(response.status, 200);
  return response.text();
}

function attribute(tag: string, name: string): string {
  const [, value = ''] = new RegExp(`\\b${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
