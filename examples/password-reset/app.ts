import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Postrider, safe } from '@postrider/sdk';
import type { Accounts } from './accounts.ts';

const MIN_PASSWORD_LENGTH = 12;
const MAX_BODY_BYTES = 10_000;

interface App {
  readonly server: Server;
  /** Resolves when every email that was started is sent or has failed. */
  settle(): Promise<void>;
}

/** public_url comes from your configuration: links built from the Host header could lead to another site. */
export function createApp(accounts: Accounts, postrider: Postrider, public_url: string): App {
  const sends = new Set<Promise<void>>();

  async function sendLink(email: string, token: string): Promise<void> {
    const link = new URL('/reset', public_url);
    link.searchParams.set('token', token);
    const { error } = await safe(
      postrider.email.send({
        from: 'Example <hello@sandbox.test>',
        to: email,
        subject: 'Reset your password',
        html: `<p>Choose a new password within an hour:</p><p><a href="${link.href}">Reset password</a></p>
<p>If you didn't ask for this, ignore this email.</p>`,
        priority: 'high',
        // Deletes the content, and the link with it, within a minute of the last attempt.
        retain: 'none',
      }),
    );
    if (error) console.error(`failed to send a reset link: ${error.message}`);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', public_url);
    switch (`${request.method} ${pathname}`) {
      case 'GET /forgot':
        return reply(response, 200, form('/forgot', '<input name="email" type="email" required>', 'Send link'));

      case 'POST /forgot': {
        const { email = '' } = await fields(request);
        // Responds before it looks the address up, so that the time does not reveal whether the account exists.
        reply(response, 202, '<p>If there is an account with this address, we have sent it a link.</p>');
        const link = accounts.createToken(email);
        if (!link) return;
        const send = sendLink(link.email, link.token).finally(() => sends.delete(send));
        sends.add(send);
        return;
      }

      case 'GET /reset': {
        // Only shows a form: link scanners open every link in an email, and must not use up the token.
        const token = searchParams.get('token') ?? '';
        if (!/^[\w-]+$/.test(token)) return reply(response, 400, '<p>This link is not complete.</p>');
        const inputs = `<input type="hidden" name="token" value="${token}">
<input type="password" name="password" autocomplete="new-password" minlength="${MIN_PASSWORD_LENGTH}" required>`;
        return reply(response, 200, form('/reset', inputs, 'Save password'));
      }

      case 'POST /reset': {
        const { token = '', password = '' } = await fields(request);
        if (password.length < MIN_PASSWORD_LENGTH)
          return reply(response, 422, `<p>Use at least ${MIN_PASSWORD_LENGTH} characters.</p>`);
        if (!(await accounts.resetPassword(token, password)))
          return reply(response, 410, '<p>This link has expired. <a href="/forgot">Request a new one</a>.</p>');
        return reply(response, 200, '<p>Your password is changed.</p>');
      }

      case 'POST /sign-in': {
        const { email = '', password = '' } = await fields(request);
        if (!(await accounts.isPassword(email, password)))
          return reply(response, 401, '<p>The address or the password is wrong.</p>');
        return reply(response, 200, '<p>Welcome back.</p>');
      }

      default:
        return reply(response, 404, '<p>There is no such page.</p>');
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      console.error('failed to handle a request', error);
      reply(response, 500, '<p>Something went wrong.</p>');
    });
  });
  return {
    server,
    async settle() {
      await Promise.all(sends);
    },
  };
}

function reply(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    // The address of the form contains the token.
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(`<!doctype html><html lang="en"><title>Account</title><body>${html}</body></html>`);
}

function form(path: string, inputs: string, button: string): string {
  return `<form method="post" action="${path}">${inputs} <button>${button}</button></form>`;
}

async function fields(request: IncomingMessage): Promise<Record<string, string>> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) throw new Error('the body is too large');
  }
  return Object.fromEntries(new URLSearchParams(body));
}
