import { AppError, createContext, httpStatus, invoke, retryAfterHeader, type Services } from '@postrider/core';
import { acceptInvitation, type OpenedInvitation, readInvitation } from '@postrider/core/invitations';
import { requestReset, resetByLink } from '@postrider/core/password-resets';
import { confirmPassword, login, loginByCode, loginByLink, logout, type SignInOutcome } from '@postrider/core/people';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import type { AdminEnv } from '../admin-env.ts';
import { crossSiteRefusal } from '../session/own-origin.ts';
import {
  deviceToken,
  dropPending,
  dropSession,
  keepDevice,
  keepPending,
  keepSession,
  pendingToken,
  sessionOf,
  sessionToken,
} from '../session/session.ts';
import { type DashboardSource, startDashboard } from './dashboard/dashboard-routes.ts';
import { ownPath } from './own-path.ts';
import { page } from './page.ts';

type PageContext = Context<AdminEnv>;

const MAX_BYTES = 10 * 1024;

/** Serves sign-in and sign-out. These pages need no scripts and are served even if the dashboard is not built. */
export function loginRoutes(services: Services, dashboard: DashboardSource): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  for (const path of ['/login/*', '/logout']) routes.use(path, formPage(services));
  routes.get('/login', (context) =>
    dashboard().kind === 'ready'
      ? startDashboard(context, dashboard)
      : context.html(loginPage({ next: context.req.query('next') })),
  );
  routes.post('/login', async (context) => {
    const form = await readForm(context);
    const next = form.get('next') ?? undefined;
    const email = form.get('email') ?? '';
    try {
      const credentials = { email, password: form.get('password') ?? '' };
      const outcome = await login(services, credentials, arrivalOf(services, context));
      return enter(services, context, outcome, ownPath(next));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => loginPage({ next, email, problem }));
    }
  });
  // An email scanner that follows the link sends a GET, which must not use up the token.
  routes.get('/login/link/:token', (context) =>
    dashboard().kind === 'ready' ? startDashboard(context, dashboard) : context.html(linkPage()),
  );
  routes.post('/login/link/:token', async (context) => {
    try {
      const link = context.req.param('token');
      return enter(services, context, await loginByLink(services, link, arrivalOf(services, context)));
    } catch (error) {
      return refuse(context, services.clock.now(), error, linkPage);
    }
  });
  routes.get('/login/code', (context) =>
    dashboard().kind === 'ready'
      ? startDashboard(context, dashboard)
      : context.html(codePage({ next: context.req.query('next') })),
  );
  routes.post('/login/code', async (context) => {
    const form = await readForm(context);
    const next = form.get('next') ?? undefined;
    try {
      const input = { pending_token: pendingToken(services, context) ?? '', code: form.get('code') ?? '' };
      const outcome = await loginByCode(services, input, arrivalOf(services, context));
      dropPending(services, context);
      return enter(services, context, outcome, ownPath(next));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => codePage({ next, problem }));
    }
  });
  accountRoutes(services, dashboard, routes);
  routes.get('/login/confirm', async (context) => {
    const actor = await sessionOf(services, context);
    const next = context.req.query('next');
    return actor
      ? context.html(confirmPage({ email: actor.email, next }))
      : context.redirect(`/login?next=${encodeURIComponent(ownPath(next))}`);
  });
  routes.post('/login/confirm', async (context) => {
    const form = await readForm(context);
    const next = form.get('next') || undefined;
    const actor = await sessionOf(services, context);
    if (!actor) return context.redirect(`/login?next=${encodeURIComponent(ownPath(next))}`, 303);
    const { request_id, address } = context.var;
    try {
      const ctx = createContext(services, actor, { request_id, address, via: 'dashboard' });
      const input = { password: form.get('password') ?? '', code: form.get('code') ?? undefined };
      const { confirmed_until } = await invoke(ctx, confirmPassword, input);
      if (ctx.notes.session_token !== null) keepSession(services, context, ctx.notes.session_token);
      if (next === undefined && !wantsJson(context)) return context.html(confirmedPage(confirmed_until));
      return arrive(context, ownPath(next));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) =>
        confirmPage({ email: actor.email, next, problem }),
      );
    }
  });
  routes.get('/logout', (context) => context.html(logoutPage()));
  routes.post('/logout', async (context) => {
    const actor = await sessionOf(services, context);
    if (actor) {
      const { request_id, address } = context.var;
      await invoke(createContext(services, actor, { request_id, address, via: 'dashboard' }), logout, {});
    }
    dropSession(services, context);
    // Pages keep queries in browser storage, and queries may contain addresses.
    context.header('clear-site-data', '"storage"');
    return arrive(context, '/login');
  });
  return routes;
}

/** Serves what emailed links open, and the form that asks for a reset link. Their GETs show a page and change nothing. */
function accountRoutes(services: Services, dashboard: DashboardSource, routes: Hono<AdminEnv>): void {
  const showPage = (context: PageContext, pageOf: () => ReturnType<typeof page>) =>
    dashboard().kind === 'ready' ? startDashboard(context, dashboard) : context.html(pageOf());
  routes.get('/login/forgot', (context) => showPage(context, () => forgotPage({})));
  routes.post('/login/forgot', async (context) => {
    const email = (await readForm(context)).get('email') ?? '';
    try {
      const { message } = await requestReset(services, email, arrivalOf(services, context));
      return wantsJson(context) ? context.json({ message }) : context.html(forgotPage({ message }));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => forgotPage({ problem }));
    }
  });
  routes.get('/login/reset/:token', (context) => showPage(context, () => newPasswordPage({})));
  routes.post('/login/reset/:token', async (context) => {
    const password = (await readForm(context)).get('password') ?? '';
    try {
      const arrival = arrivalOf(services, context);
      return enter(services, context, await resetByLink(services, context.req.param('token'), password, arrival));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => newPasswordPage({ problem }));
    }
  });
  routes.get('/login/invitation/:token', async (context) => {
    if (!wantsJson(context) && dashboard().kind === 'ready') return startDashboard(context, dashboard);
    try {
      const opened = await readInvitation(services, context.req.param('token'));
      return wantsJson(context) ? context.json(opened) : context.html(newPasswordPage({ opened }));
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => newPasswordPage({ problem, ended: true }));
    }
  });
  routes.post('/login/invitation/:token', async (context) => {
    const password = (await readForm(context)).get('password') ?? '';
    try {
      const arrival = arrivalOf(services, context);
      const outcome = await acceptInvitation(services, context.req.param('token'), password, arrival);
      return outcome === null ? arrive(context, '/login') : enter(services, context, outcome);
    } catch (error) {
      return refuse(context, services.clock.now(), error, (problem) => newPasswordPage({ problem }));
    }
  });
}

/** Returns whether the client wants JSON. The dashboard does, because a script cannot read a redirect's target. */
function wantsJson(context: PageContext): boolean {
  return /^application\/json(?:;|$)/.test(context.req.header('accept') ?? '');
}

function arrive(context: PageContext, next: string): Response {
  return wantsJson(context) ? context.json({ next }) : context.redirect(next, 303);
}

function refuse(
  context: PageContext,
  now_ms: number,
  error: unknown,
  pageOf: (problem: string) => ReturnType<typeof page>,
): Response | Promise<Response> {
  if (!(error instanceof AppError)) throw error;
  const { code, reason, message } = error;
  for (const [name, value] of Object.entries(retryAfterHeader(error, now_ms))) context.header(name, value);
  if (!wantsJson(context)) return context.html(pageOf(message), httpStatus[code]);
  return context.json({ error: { code, reason, message, request_id: context.var.request_id } }, httpStatus[code]);
}

/** Restricts pages to POSTs from their own forms. */
function formPage(services: Services): MiddlewareHandler<AdminEnv> {
  const limit = bodyLimit({ maxSize: MAX_BYTES, onError: (context) => context.text('The form is too large.', 400) });
  return async (context, next) => {
    context.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
    // With no-referrer, browsers send "Origin: null" with a form.
    context.header('referrer-policy', 'same-origin');
    if (context.req.method === 'GET') return next();
    const refusal = crossSiteRefusal(services, context) ?? nameless(context);
    return refusal ? context.text(refusal.message, httpStatus[refusal.code]) : limit(context, next);
  };
}

/**
 * Returns an error if a form has neither Origin nor Sec-Fetch-Site, at least one of which every browser sends, or has
 * the wrong encoding. Otherwise, returns null.
 */
function nameless(context: PageContext): AppError | null {
  const from = context.req.header('origin') ?? context.req.header('sec-fetch-site');
  if (from === undefined)
    return new AppError('cross_site_request', 'The request has neither Origin nor Sec-Fetch-Site. Use a browser.');
  const type = context.req.header('content-type') ?? '';
  return type === '' || /^application\/x-www-form-urlencoded(?:;|$)/i.test(type)
    ? null
    : new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
}

async function readForm(context: PageContext): Promise<URLSearchParams> {
  return new URLSearchParams(await context.req.text());
}

function arrivalOf(services: Services, context: PageContext) {
  const { request_id, address } = context.var;
  const [replaces, device] = [sessionToken(services, context), deviceToken(services, context)];
  return { request_id, address, user_agent: context.req.header('user-agent') ?? null, replaces, device };
}

/** Keeps the session and goes to a page, or asks for the code of the second factor first. */
function enter(services: Services, context: PageContext, outcome: SignInOutcome, next = '/'): Response {
  if (outcome.kind === 'code_required') {
    keepPending(services, context, outcome.token);
    return arrive(context, next === '/' ? '/login/code' : `/login/code?next=${encodeURIComponent(next)}`);
  }
  keepSession(services, context, outcome.token);
  if (outcome.device !== null) keepDevice(services, context, outcome.device);
  return arrive(context, next);
}

function loginPage(form: { readonly next: string | undefined; readonly email?: string; readonly problem?: string }) {
  return page(
    'Sign in',
    html`${problemText(form.problem)}<form method="post" action="/login">
      <input type="hidden" name="next" value="${ownPath(form.next)}">
      <p><label>Email address<br><input type="email" name="email" value="${form.email ?? ''}" autocomplete="username" required autofocus></label></p>
      <p><label>Password<br><input type="password" name="password" autocomplete="current-password" required></label></p>
      <p><button type="submit">Sign in</button></p></form>
      <p><a href="/login/forgot">Forgot password?</a></p>`,
  );
}

function codePage({ next, problem }: { readonly next: string | undefined; readonly problem?: string }) {
  return page(
    'Enter code',
    html`${problemText(problem)}<form method="post" action="/login/code">
      <input type="hidden" name="next" value="${ownPath(next)}">
      <p><label>Code from your authenticator app, or a recovery code<br><input type="text" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="100" required autofocus></label></p>
      <p><button type="submit">Sign in</button></p></form>
      <p><a href="/login">Start again</a></p>`,
  );
}

function linkPage(problem?: string) {
  const form = html`<form method="post"><p><button type="submit" autofocus>Sign in</button></p></form>`;
  const password_link = html`<p><a href="/login">Sign in with a password</a></p>`;
  return page('Sign in', html`${problemText(problem)}${problem === undefined ? form : password_link}`);
}

function forgotPage({ message, problem }: { readonly message?: string; readonly problem?: string }) {
  const form = html`<form method="post" action="/login/forgot">
      <p><label>Email address<br><input type="email" name="email" autocomplete="username" required autofocus></label></p>
      <p><button type="submit">Email reset link</button></p></form>`;
  return page(
    'Reset password',
    html`${problemText(problem)}${message === undefined ? form : html`<p role="status">${message}</p>`}`,
  );
}

function newPasswordPage({
  opened,
  problem,
  ended = false,
}: {
  readonly opened?: OpenedInvitation;
  readonly problem?: string;
  readonly ended?: boolean;
}) {
  const field = html`<p><label>New password<br><input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="200" required autofocus></label></p>`;
  const place = opened?.workspace_name ?? 'this Postrider instance';
  const invitation = opened && html`<p>${opened.invited_by} invited ${opened.email} to ${place} as ${opened.role}.</p>`;
  const form = html`<form method="post">${opened?.needs_password === false ? '' : field}
      <p><button type="submit">${opened ? 'Accept invitation' : 'Set password'}</button></p></form>`;
  return page(
    opened ? 'Accept invitation' : 'Choose a password',
    html`${problemText(problem)}${invitation ?? ''}${ended ? html`<p><a href="/login">Sign in with a password</a></p>` : form}`,
  );
}

function confirmPage(form: { readonly email: string; readonly next: string | undefined; readonly problem?: string }) {
  return page(
    'Confirm your password',
    html`${problemText(form.problem)}<p>This action requires your password because you signed in more than an hour ago.</p>
      <form method="post" action="/login/confirm">
      <input type="hidden" name="next" value="${form.next === undefined ? '' : ownPath(form.next)}">
      <p><label>Email address<br><input type="email" value="${form.email}" autocomplete="username" readonly></label></p>
      <p><label>Password<br><input type="password" name="password" autocomplete="current-password" required autofocus></label></p>
      <p><label>Code from your authenticator app, if you have one<br><input type="text" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="100"></label></p>
      <p><button type="submit">Confirm</button></p></form>
      <p>No password? <a href="/logout">Sign out</a>, then sign in with a new link.</p>`,
  );
}

function confirmedPage(until: string) {
  return page('Password confirmed', html`<p>You won’t be asked again until ${until}. Go back and retry.</p>`);
}

function logoutPage() {
  return page(
    'Sign out',
    html`<form method="post" action="/logout"><p><button type="submit">Sign out</button></p></form>`,
  );
}

function problemText(problem: string | undefined) {
  return problem === undefined ? '' : html`<p role="alert"><strong>${problem}</strong></p>`;
}
