import type { RequestListener } from 'node:http';
import { createHandler as createAdmin, type DashboardState } from '@postrider/admin';
import { invoke, newId } from '@postrider/core';
import { beginSession, insertUser, setSignInPolicy, totpPurpose, type WorkspaceRole } from '@postrider/core/people';
import { createFeedbackHandler, createHandler as createRest } from '@postrider/rest';
import { createWorld, listenHttp, type World } from '@postrider/testing';
import { type BrowserTab, startChromium, type Visitor, visit } from '@postrider/testing/chromium';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openDashboard } from '../../src/dashboard-build.ts';

const TOTP_SECRET = Buffer.alloc(20, 7);
/** The same in base 32: the authenticator app of every user of a stage. */
export const stage_totp_secret = 'A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYH';

export interface Stage {
  readonly world: World;
  readonly origin: string;
  readonly port: number;
  readonly browser: Browser;
  /** Opens a browser for a user with this role, or for a visitor who is not signed in. */
  visitor(role: WorkspaceRole | 'operator' | null): Promise<Visitor>;
  /** Deploys another release to the server, without the files of the previous one. */
  deploy(): void;
  stop(): Promise<void>;
}

/**
 * Starts the built dashboard with the APIs on one port, and a browser. A policy requires a second factor of everyone;
 * people who come without one are in their grace period.
 */
export async function startStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const world = await createWorld(env);
  const policy = { access: 'instance', second_factor: 'required', grace_days: 30 } as const;
  await invoke(world.as(world.workspace_id), setSignInPolicy, policy);
  // The run's setup has already built the dashboard.
  const dashboard = openDashboard(false, world.services.log);
  const rest = createRest(world.services) as RequestListener;
  let deployed: DashboardState | null = null;
  const admin = createAdmin(world.services, () => deployed ?? dashboard.current()) as RequestListener;
  const feedback = createFeedbackHandler(world.services);
  const listener = await listenHttp((request, response) => {
    if (request.url?.startsWith('/feedback/')) return void feedback(request, response);
    return (request.url?.startsWith('/v1/') ? rest : admin)(request, response);
  });
  const { port, url: origin } = listener;
  const browser = await startChromium();
  return {
    world,
    origin,
    port,
    browser,
    async visitor(role) {
      const visitor = await visit(browser, port);
      if (role !== null) {
        const [name = '', value = ''] = (await cookieOf(world, role)).split('=');
        await visitor.context.addCookies([{ name, value, url: origin }]);
      }
      return visitor;
    },
    deploy() {
      const state = dashboard.current();
      if (state.kind === 'ready')
        deployed = { kind: 'ready', files: { ...state.files, release: 'next', assets: new Map() } };
    },
    async stop() {
      await browser.close();
      await listener.stop();
      await dashboard.stop();
      await world.stop();
    },
  };
}

async function cookieOf({ services, clock, workspace_id }: World, role: WorkspaceRole | 'operator'): Promise<string> {
  const id = newId('user', clock.now());
  const person = {
    id,
    email: `${role}@people.test`,
    password_hash: null,
    operator: role === 'operator',
    vouched: true,
  };
  const [known] = await services.sql<{ id: string }[]>`select id from users where email = ${person.email}`;
  if (!known) {
    await insertUser(services.sql, person);
    await services.sql`
      insert into totp_factors (user_id, secret, active_at, last_step)
      values (${id}, ${services.encryption.encrypt(TOTP_SECRET, totpPurpose(id))}, clock_now(), 0)`;
  }
  const user_id = known?.id ?? id;
  if (role !== 'operator') {
    await services.sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${workspace_id}, ${user_id}, ${role}, clock_now()) on conflict do nothing`;
  }
  const session = { user_id, workspace_id, by_link: false };
  const { token } = await services.sql.begin((tx) => beginSession(tx, clock.now(), session));
  return `sid=${token}`;
}

/** Sends a message as a program would and returns its ID. */
export async function sendMail(stage: Stage, body: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await post(stage, body);
  const { id } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`the mail was refused with ${response.status}`);
  return id;
}

/** Sends a message that is rejected and returns the request ID. */
export async function refusedMail(stage: Stage, body: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await post(stage, body);
  if (response.ok) throw new Error('the mail was accepted');
  await stage.world.services.request_log.flush();
  return response.headers.get('x-request-id') ?? '';
}

function post(stage: Stage, body: Readonly<Record<string, unknown>>): Promise<Response> {
  const mail = { from: 'Acme <hello@sandbox.test>', to: 'ada@example.com', subject: 'A mail', text: 'Hello.', ...body };
  return fetch(`${stage.origin}/v1/email/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.world.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(mail),
  });
}

/** Returns the problems axe finds, as `rule: element`. */
export async function axeProblems(page: Page, rules: readonly string[] | null): Promise<string[]> {
  const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const run = JSON.stringify({ runOnly: rules ?? levels });
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const violations = await page.evaluate<{ id: string; nodes: { target: unknown[]; failureSummary: string }[] }[]>(
    `axe.run(document, ${run}).then((r) => r.violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
  );
}

/**
 * Ends the session with the page's next change. If it ended before, a query of the page could open the sign-in dialog
 * over the form that a test is about to submit.
 */
export async function endSessionOnNextChange(page: Page): Promise<void> {
  let has_ended = false;
  await page.route('**/trpc/**', async (route) => {
    if (!has_ended && route.request().method() === 'POST') {
      has_ended = true;
      await page.context().clearCookies();
    }
    await route.continue();
  });
}

/** Checks that nothing went wrong out of sight: no errors, no external requests, no script dialogs. */
export function expectQuiet({ problems, foreign, dialogs }: BrowserTab): void {
  expect(problems).toEqual([]);
  expect(foreign).toEqual([]);
  expect(dialogs).toEqual([]);
}
