import { createStore } from './store.ts';
import { words } from './strings.ts';
import { inWorkspace } from './workspace.ts';

/** What the server requires: the password again, or a new sign-in. */
export type Need = 'password' | 'session';

interface SignInPrompt {
  readonly need: Need;
  readonly answer: (is_confirmed: boolean) => void;
}

/** The open dialog. Every call with the same need waits for it. */
export const sign_in_prompt = createStore<SignInPrompt | null>(null);

let waiting: { readonly need: Need; readonly confirmation: Promise<boolean> } | null = null;
let arrived = false;

/**
 * Notes that a page has loaded. From then on, an expired session opens a dialog; before that, there is no page state to
 * lose.
 */
export function noteArrival(): void {
  arrived = true;
}

export function askFor(need: Need): Promise<boolean> {
  if (need === 'session' && !arrived) {
    goToSignIn();
    // Never resolves because the browser is leaving the page.
    return new Promise(() => {});
  }
  if (waiting?.need === need) return waiting.confirmation;
  const confirmation = new Promise<boolean>((resolve) => {
    sign_in_prompt.set({
      need,
      answer(value) {
        waiting = null;
        sign_in_prompt.set(null);
        resolve(value);
      },
    });
  });
  waiting = { need, confirmation };
  return confirmation;
}

export function goToSignIn(): void {
  const { pathname, search } = location;
  if (pathname.startsWith('/login')) return;
  location.assign(
    pathname === '/' && search === '' ? '/login' : `/login?next=${encodeURIComponent(pathname + search)}`,
  );
}

/** Opens the page where a second factor is added, which is all that people may do once a policy requires one. */
export function goToAccount(): void {
  if (!location.pathname.endsWith('/settings/account')) location.assign(inWorkspace('/settings/account'));
}

interface FormReply {
  readonly ok: boolean;
  readonly next?: string;
  readonly message?: string;
  readonly reason?: string;
}

/** Sends a form to an endpoint that also works without scripts, and reads its JSON response. */
export async function postForm(path: string, form: Readonly<Record<string, string>>): Promise<FormReply> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
  }).catch(() => null);
  if (response === null) return { ok: false, message: words.silentForm };
  // The cast is safe for our endpoints. Anything else, such as a proxy's page, becomes {}.
  const body = (await response.json().catch(() => ({}))) as Omit<FormReply, 'ok'> & {
    error?: { message?: string; reason?: string };
  };
  if (response.ok) return { ...body, ok: true };
  const { message = words.failed(response.status), reason = '' } = body.error ?? {};
  return { ok: false, message, reason };
}

/** Signs in through a form endpoint. Returns the path to go to next, or the error. */
export async function signIn(path: string, form: Readonly<Record<string, string>>): Promise<SignedIn> {
  const { ok, next = '/', message = '', reason = '' } = await postForm(path, form);
  return ok ? { ok, next } : { ok, message, reason };
}

export interface Invitation {
  readonly email: string;
  readonly role: string;
  readonly invited_by: string;
  readonly workspace_name: string | null;
  readonly needs_password: boolean;
}

/** Reads the invitation of a link, which does not use it up. */
export async function readInvitation(
  path: string,
): Promise<{ readonly ok: true; readonly invitation: Invitation } | { readonly ok: false; readonly message: string }> {
  const response = await fetch(path, { headers: { accept: 'application/json' } }).catch(() => null);
  if (response === null) return { ok: false, message: words.silentForm };
  // The cast is safe for our endpoint. Anything else, such as a proxy's page, becomes {}.
  const body = (await response.json().catch(() => ({}))) as Invitation & { error?: { message?: string } };
  if (response.ok) return { ok: true, invitation: body };
  return { ok: false, message: body.error?.message ?? words.failed(response.status) };
}

export type SignedIn =
  | { readonly ok: true; readonly next: string }
  | { readonly ok: false; readonly message: string; readonly reason: string };

export async function signOut(): Promise<void> {
  await endSession();
  location.assign('/login');
}

/** Signs out, so that another user can sign in and open the same page. */
export async function signInAgain(): Promise<void> {
  await endSession();
  goToSignIn();
}

async function endSession(): Promise<void> {
  await fetch('/logout', { method: 'POST', headers: { accept: 'application/json' }, body: new URLSearchParams() });
}
