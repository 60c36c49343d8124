import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { words as webhooks } from '@postrider/dashboard/strings/pages/webhooks';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let stage: Stage;
let receiver: Server;
let folder: string;
const posts: Post[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-verify-'));
  stage = await startStage({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    posts.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stage.stop();
  await new Promise((resolve) => receiver.close(resolve));
  rmSync(folder, { recursive: true });
});

type Language = keyof typeof webhooks.verify.names;

/**
 * Programs that wrap a snippet. Each exits with 0 if the request in post.json with the body in body.json is verified.
 */
const programs: Record<Language, readonly [command: readonly string[], file: string, around: string]> = {
  typescript: [
    [process.execPath, 'main.ts'],
    'main.ts',
    `import { readFileSync } from 'node:fs';
import { verify } from './verify.ts';
const headers = JSON.parse(readFileSync('post.json', 'utf8'));
process.exit(verify(readFileSync('secret', 'utf8'), headers, readFileSync('body.json')) ? 0 : 1);
`,
  ],
  python: [
    ['python3', 'main.py'],
    'main.py',
    `import json, sys
from verify import verify
fits = verify(open("secret").read(), json.load(open("post.json")), open("body.json", "rb").read())
sys.exit(0 if fits else 1)
`,
  ],
  go: [
    ['go', 'run', 'verify.go', 'main.go'],
    'main.go',
    `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	text, _ := os.ReadFile("post.json")
	body, _ := os.ReadFile("body.json")
	secret, _ := os.ReadFile("secret")
	var given map[string]string
	json.Unmarshal(text, &given)
	headers := http.Header{}
	for name, value := range given {
		headers.Set(name, value)
	}
	if !Verify(string(secret), headers, body) {
		os.Exit(1)
	}
}
`,
  ],
  php: [
    ['php', 'main.php'],
    'main.php',
    `<?php
require 'verify.php';
$headers = json_decode(file_get_contents('post.json'), true);
exit(verify(file_get_contents('secret'), $headers, file_get_contents('body.json')) ? 0 : 1);
`,
  ],
  shell: [['sh', 'main.sh'], 'main.sh', '. ./headers\n. ./verify.sh\n'],
};

// The record above is exhaustive, but Object.keys widens its keys to strings.
const languages = Object.keys(programs) as Language[];

it.each(['postrider', 'resend'] as const)(
  'each snippet verifies a genuine post in the %s format, but no tampered one',
  async (format) => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    const { port } = receiver.address() as AddressInfo;
    await page.goto('/webhooks?open=new');
    await page.getByLabel(webhooks.fields.url, { exact: true }).fill(`http://127.0.0.1:${port}/${format}`);
    await page.getByRole('button', { name: webhooks.fields.formats[format][0], exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: webhooks.fields.create }).click();
    const secret = await page.getByRole('region', { name: parts.texts.signingSecret }).innerText();
    await page.getByLabel(webhooks.secret.stored).check();
    await page.getByRole('button', { name: webhooks.secret.done }).click();
    await page.getByRole('link', { name: new RegExp(`/${format}$`) }).click();
    await page.getByRole('button', { name: webhooks.detail.test }).click();
    await page.getByText(webhooks.detail.tested).waitFor();
    await stage.world.postWebhooks();
    const post = posts.at(-1);

    await page.getByRole('button', { name: webhooks.verify.open }).click();
    const drawer = page.getByRole('dialog', { name: webhooks.verify.title });
    const counts: Record<string, readonly (number | null)[]> = {};
    for (const language of languages) {
      const [[program = '', ...args], file, wrapper] = programs[language];
      await drawer.getByRole('tab', { name: webhooks.verify.names[language] }).click();
      const snippet = drawer.getByRole('region', { name: /^verify\./ });
      const installed = spawnSync(program, [program === 'go' ? 'version' : '--version']).error === undefined;
      // Python, Node, and a shell are available wherever this suite runs. Go and PHP may be missing.
      if (!installed && (language === 'go' || language === 'php')) continue;
      const place = join(folder, `${format}-${language}`);
      mkdirSync(place);
      writeFileSync(join(place, (await snippet.getAttribute('aria-label')) ?? ''), await snippet.innerText());
      writeFileSync(join(place, file), wrapper);
      const [id, sent, signature] = ['id', 'timestamp', 'signature'].map((part) =>
        String(post?.headers[`${format === 'resend' ? 'svix' : 'webhook'}-${part}`]),
      );
      const run = (body: Buffer, at = sent) => {
        writeFileSync(join(place, 'body.json'), body);
        writeFileSync(join(place, 'secret'), secret);
        writeFileSync(
          join(place, 'headers'),
          `WEBHOOK_SECRET='${secret}'\nID='${id}'\nSENT='${at}'\nSIGNATURE='${signature}'\n`,
        );
        writeFileSync(join(place, 'post.json'), JSON.stringify({ ...post?.headers, ...headersOf(format, at) }));
        return spawnSync(program, args, { cwd: place }).status;
      };
      const body = post?.body ?? Buffer.alloc(0);
      counts[language] = [
        run(body),
        run(Buffer.concat([body, Buffer.from(' ')])),
        run(body, String(Number(sent) - 1000)),
      ];
    }

    for (const name of Object.keys(counts)) expect(counts[name], name).toEqual([0, 1, 1]);
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(['typescript', 'python', 'shell']));
    await visitor.stop();
  },
);

function headersOf(format: string, sent: string | undefined): Record<string, string | undefined> {
  return { [`${format === 'resend' ? 'svix' : 'webhook'}-timestamp`]: sent };
}
