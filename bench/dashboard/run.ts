// Measures what a browser transfers until a page is usable with an empty cache, and how fast a very long list is,
// against the dashboard's budgets; prints when each page's largest part is painted:
// npm run bench:dashboard [-- --messages 1000000]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startChromium } from '@postrider/testing/chromium';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { measureList } from './list.ts';

const SCRIPT_KB = 160;
const ALL_KB = 260;
const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));
/** Pages besides those in the navigation. */
const FURTHER = ['/domains/sandbox.test', '/settings/api-keys?open=new', '/docs', '/docs/sending', '/docs/api/email'];

interface Transfer {
  readonly path: string;
  readonly script: number;
  readonly all: number;
  /** The largest contentful paint in milliseconds. */
  readonly painted_ms: number;
}

type StorageState = NonNullable<BrowserContextOptions['storageState']>;

const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-'));
const server = spawn(process.execPath, [START], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
let browser: Browser | undefined;
try {
  const link = new URL(await printedLink());
  browser = await startChromium();
  const [state, paths] = await signIn(browser, link);
  const transfers: Transfer[] = [];
  for (const path of [...paths, ...FURTHER]) transfers.push(await load(browser, link.origin, path, state));
  report(transfers);
} finally {
  await browser?.close();
  server.kill();
  await new Promise((resolve) => server.once('close', resolve));
  rmSync(folder, { recursive: true, force: true });
}
const { values } = parseArgs({ options: { messages: { type: 'string', default: '1000000' } } });
if (!(await measureList(Number(values.messages)))) process.exitCode = 1;

/** Resolves with the sign-in link once the banner names its file. */
function printedLink(): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const [, file] = /\(sign-in link, .*: (\S+)\)/.exec(output) ?? [];
      if (file !== undefined) resolve(readFileSync(file, 'utf8').trim());
    });
    server.once('close', () => reject(new Error(`the server ended before it was ready:\n${output}`)));
  });
}

/** Returns the session cookie and the pages of the navigation. */
async function signIn(chromium: Browser, link: URL): Promise<readonly [StorageState, readonly string[]]> {
  const context = await chromium.newContext({ baseURL: link.origin });
  const page = await context.newPage();
  // The first start builds the dashboard; until then, the page reloads itself.
  await page.goto(link.pathname);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const links = page.getByRole('navigation').getByRole('link');
  await links.first().waitFor({ timeout: 180_000 });
  const paths = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? '/'));
  const state = await context.storageState();
  await context.close();
  return [state, paths];
}

/** Loads a page as a new visitor would, and counts the bytes on the wire. */
async function load(chromium: Browser, baseURL: string, path: string, storageState: StorageState): Promise<Transfer> {
  const context = await chromium.newContext({ baseURL, storageState, extraHTTPHeaders: { 'accept-encoding': 'br' } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const types = new Map<string, string>();
  let script = 0;
  let all = 0;
  session.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    all += encodedDataLength;
    if (types.get(requestId) === 'Script') script += encodedDataLength;
  });
  await page.goto(path);
  await page.locator('main h1, dialog h2').first().waitFor();
  await page.waitForTimeout(1500);
  const painted_ms = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        setTimeout(() => resolve(Number.NaN), 5000);
        new PerformanceObserver((entries) => resolve(entries.getEntries().at(-1)?.startTime ?? 0)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        });
      }),
  );
  await context.close();
  return { path, script, all, painted_ms };
}

function report(transfers: readonly Transfer[]): void {
  const kb = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`.padStart(8);
  console.log(`${'page'.padEnd(32)}${'script'.padStart(8)}${'all'.padStart(9)}${'painted'.padStart(11)}`);
  for (const { path, script, all, painted_ms } of transfers)
    console.log(`${path.padEnd(32)}${kb(script)} ${kb(all)} ${`${painted_ms.toFixed(0)} ms`.padStart(10)}`);
  const too_large = transfers.filter(({ script, all }) => script > SCRIPT_KB * 1000 || all > ALL_KB * 1000);
  console.log(
    `\nbudget: ${SCRIPT_KB} kB of script, ${ALL_KB} kB in all; ${too_large.length} of ${transfers.length} pages are over it`,
  );
  if (too_large.length > 0) process.exitCode = 1;
}
