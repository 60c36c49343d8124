import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page, with its errors and unwanted requests. */
export interface BrowserTab {
  readonly page: Page;
  /** Console and script errors, and CSP violations. */
  readonly problems: string[];
  /** URLs of other hosts that the page requested. */
  readonly foreign: string[];
  readonly dialogs: string[];
}

export interface Visitor {
  readonly context: BrowserContext;
  open(): Promise<BrowserTab>;
  stop(): Promise<void>;
}

export async function startChromium(): Promise<Browser> {
  const executablePath = PLACES.find((path) => existsSync(path));
  if (!executablePath) {
    throw new Error(`No Chromium is at ${PLACES.join(', ')}. Install it; on Debian: apt-get install chromium.`);
  }
  return chromium.launch({ executablePath, args: QUIET });
}

/** Opens a fresh browser profile that can reach only the origin on this port. */
export async function visit(browser: Browser, port: number): Promise<Visitor> {
  const origin = `http://127.0.0.1:${port}`;
  const context = await browser.newContext({ baseURL: origin });
  return {
    context,
    async open() {
      const tab: BrowserTab = { page: await context.newPage(), problems: [], foreign: [], dialogs: [] };
      const { page } = tab;
      page.on('console', (message) => {
        if (message.type() === 'error') tab.problems.push(message.text());
      });
      page.on('pageerror', (error) => tab.problems.push(error.message));
      page.on('request', (request) => {
        const url = request.url();
        if (/^https?:/.test(url) && new URL(url).origin !== origin) tab.foreign.push(url);
      });
      page.on('dialog', (dialog) => {
        tab.dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      return tab;
    },
    stop: () => context.close(),
  };
}
