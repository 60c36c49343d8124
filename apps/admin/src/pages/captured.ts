import { createContext, type Services } from '@postrider/core';
import { type MailAddress, newestCaptures, readCapture, readCaptureAs } from '@postrider/core/captures';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { AdminEnv } from '../admin-env.ts';
import { localOrOperator } from './local-or-operator.ts';
import { page } from './page.ts';

const SHOWN = 100;
// Captured mail is untrusted: its frame runs no script, submits no form and loads nothing.
const PREVIEW_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'";

export function captureRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(localOrOperator(services));
  const mailOf = (context: Context<AdminEnv>, id: string) => {
    const { viewer: actor, request_id, address } = context.var;
    if (actor === null) return readCapture(services, id);
    return readCaptureAs({ ...createContext(services, actor, { request_id, address, via: 'dashboard' }), actor }, id);
  };
  routes.get('/', async (context) => {
    const mails = await newestCaptures(services.sql, SHOWN);
    const rows = mails.map(
      (mail) => html`<tr><td><a href="/captured/${mail.id}">${mail.subject || '(no subject)'}</a></td>
        <td>${mail.envelope_to.join(', ')}</td><td>${mail.received_at.toISOString()}</td></tr>`,
    );
    const table = html`<table><thead><tr><th>Subject</th><th>To</th><th>Received</th></tr></thead><tbody>${rows}</tbody></table>`;
    return context.html(
      page(
        'Captured mail',
        mails.length > 0 ? table : html`<p>Nothing yet. Send a mail with the command that the start printed.</p>`,
      ),
    );
  });
  routes.get('/:id', async (context) => {
    const mail = await mailOf(context, context.req.param('id'));
    if (!mail) return context.html(page('Captured mail', html`<p>There is no such mail.</p>`), 404);
    const { parsed, row } = mail;
    const facts = [
      ['From', parsed.from ? shown(parsed.from) : ''],
      ['To', parsed.to.map(shown).join(', ')],
      ['Cc', parsed.cc.map(shown).join(', ') || 'none'],
      ['Envelope', `${row.envelope_from || '<>'} → ${row.envelope_to.join(', ')}`],
      ['Date', parsed.date?.toISOString() ?? ''],
      ['Message-ID', parsed.message_id ? `<${parsed.message_id}>` : 'none'],
      [
        'Attachments',
        parsed.attachments.map((part) => `${part.filename ?? 'unnamed'} (${part.size} bytes)`).join(', ') || 'none',
      ],
    ];
    return context.html(
      page(
        parsed.subject || '(no subject)',
        html`<p><a href="/captured">All captured mail</a></p>
        <dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value ?? ''}</dd>`)}</dl>
        ${parsed.html === null ? '' : html`<h2>HTML</h2><iframe sandbox title="HTML of the mail" src="/captured/${row.id}/html"></iframe>`}
        ${parsed.text === null ? '' : html`<h2>Text</h2><pre>${parsed.text}</pre>`}
        <h2>Source</h2><pre>${row.raw.toString('utf8')}</pre>`,
      ),
    );
  });
  routes.get('/:id/html', async (context) => {
    const mail = await mailOf(context, context.req.param('id'));
    context.header('content-security-policy', PREVIEW_POLICY);
    return mail ? context.html(mail.parsed.html ?? '') : context.text('There is no such mail.', 404);
  });
  return routes;
}

function shown({ name, email }: MailAddress): string {
  return name ? `${name} <${email}>` : email;
}
