import { formatMailbox, type Mailbox, parseMailbox, replyLine, type SendOutcome } from '@postrider/mail';
import { z } from 'zod';
import { mailboxField } from '../accept/index.ts';
import { senderOf, senderOfOwner } from '../alarms/index.ts';
import {
  createDefaultMailer,
  createTransportMailer,
  defaultSender,
  isCaptured,
  relaysOfDelivery,
  renderSigned,
  senderOfRow,
} from '../delivery/index.ts';
import { domainByName } from '../domains/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE, requireAdministrator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import {
  DEFAULT_TRANSPORT,
  requireOwn,
  type TransportRow,
  transportById,
  transportRefField,
} from '../transports/index.ts';
import { type Checkup, checkupOf, checkupSchema } from './checkup.ts';
import { type Finding, failing, inTime, ok, skipped, warning } from './finding.ts';
import { checkPort25 } from './sending-checks.ts';
import { testRelay, testRelayOfRow } from './test-relay.ts';

const EMAIL_MS = 20_000;
const SUBJECT = 'Test email from Postrider';

/**
 * Tests a transport: DNS, connection, TLS and sign-in and, if there is a recipient, an email through it, whatever the
 * rules say. The email is not recorded.
 */
export const testTransport = operation({
  name: 'transports.test',
  scope: null,
  summary: 'Test a transport, with a test email if there is a recipient',
  reasons: ['transport_not_found'],
  input: z.object({
    transport_id: transportRefField,
    to: mailboxField('to').optional().meta({ description: 'The recipient of the test email. Default: none is sent.' }),
    from: mailboxField('from')
      .optional()
      .meta({ description: 'The sender, at a verified domain. Default: the sender of alerts.' }),
  }),
  output: checkupSchema,
  async run(ctx, { transport_id, to, from }): Promise<Checkup> {
    const row = await administeredRow(ctx, transport_id);
    const connection = await connectionFindings(ctx, row);
    const email = to ? await inTime(() => sendTest(ctx, row, to, from), EMAIL_MS) : skipped('No recipient was given.');
    const findings = Object.entries({ ...connection, test_email: email });
    return checkupOf(
      ctx,
      findings.map(([name, finding]) => ({ name, ...finding })),
    );
  },
});

/** Returns the row of a transport; null for the default one. */
async function administeredRow(ctx: ActorContext, transport_id: string): Promise<TransportRow | null> {
  if (transport_id !== DEFAULT_TRANSPORT)
    return requireOwn(ctx, transport_id, await transportById(ctx.sql, transport_id));
  requireAdministrator(ctx.actor, 'instance');
  return null;
}

async function connectionFindings(ctx: ActorContext, row: TransportRow | null): Promise<Record<string, Finding>> {
  const [first] = ctx.config.DELIVERY;
  const kind = row?.kind ?? first?.kind;
  if (kind === 'mx') return { port_25: await inTime(() => checkPort25(ctx)) };
  if (row) return testRelayOfRow(ctx, row);
  const [relay] = relaysOfDelivery(ctx);
  return kind === 'smtp' && relay ? testRelay(relay) : { connect: captured };
}

const captured = skipped('DELIVERY=capture sends no email out.');

async function sendTest(
  ctx: ActorContext,
  row: TransportRow | null,
  to: Mailbox,
  from: Mailbox | undefined,
): Promise<Finding> {
  if (isCaptured(ctx.config, 'live')) return captured;
  const owner_id = row?.workspace_id ?? INSTANCE;
  const sender = from
    ? await senderOf(ctx, { from_address: formatMailbox(from), workspace_id: owner_id })
    : await senderOfOwner(ctx, owner_id);
  const parsed_from = parseMailbox(sender?.from ?? '');
  if (!sender || !parsed_from.ok) {
    const owner = owner_id === INSTANCE ? 'No workspace has' : 'The workspace has not';
    const detail = from ? `${owner} verified ${from.domain}.` : 'No domain is verified.';
    return failing(detail, 'Verify a domain, and send from it.');
  }
  const { mailbox } = parsed_from;
  const domain = await domainByName(ctx.sql, sender.workspace_id, mailbox.domain);
  const message = {
    message_id: newId('message', ctx.clock.now()),
    created_at: new Date(ctx.clock.now()),
    scheduled_at: null,
    from_address: sender.from,
    from_domain: mailbox.domain,
    to_addresses: [formatMailbox(to)],
    cc_addresses: [],
    reply_to: null,
    subject: SUBJECT,
    signing_key_ids: domain?.signing_key_ids ?? [],
  };
  const text = `Sent to test the transport ${row?.name ?? 'DELIVERY'}.\n`;
  const mailer = row ? createTransportMailer(ctx, row) : createDefaultMailer(ctx);
  try {
    const { form } = row ? senderOfRow(row, mailer) : defaultSender(ctx, mailer);
    const raw = () => renderSigned(ctx, message, { html: null, text, headers: '{}', attachments: '[]' }, form);
    // No recipient is stored, so a bounce goes to the sender itself.
    const envelope = { from: mailbox.email, to: to.email };
    return emailFinding(await mailer.send(envelope, raw, AbortSignal.timeout(EMAIL_MS)));
  } finally {
    await mailer.stop();
  }
}

function emailFinding({ kind, reply, error, target }: SendOutcome): Finding {
  const response = reply ? replyLine(reply) : (error ?? 'no response');
  const detail = `${target === '' ? '' : `${target}: `}${response}`;
  if (kind === 'accepted') return ok(detail);
  if (kind === 'rejected') return failing(detail, 'Read the response, and correct what it names.');
  return warning(detail, 'Try again in a few minutes.');
}
