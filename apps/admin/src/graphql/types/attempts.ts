import { lastResponse } from '@postrider/core/delivery';
import { attemptOutcomes, type MessageAttempt } from '@postrider/core/messages';
import { builder } from '../kit/builder.ts';
import { connectionOf } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Attempt, Recipient } from '../kit/refs.ts';
import { FailureGroup } from './failures.ts';
import { recipientOf } from './recipients.ts';

const AttemptOutcome = enumOf(
  'AttemptOutcome',
  attemptOutcomes,
  'UNKNOWN: the connection was lost after the content was sent, so the email may have been delivered.',
);
const SmtpSide = enumOf(
  'SmtpSide',
  ['client', 'server', 'note'],
  'CLIENT: sent by Postrider. SERVER: sent by the receiving server. NOTE: a remark about the session.',
);

const TlsInfo = builder.objectRef<NonNullable<MessageAttempt['tls']>>('TlsInfo').implement({
  description: 'The TLS parameters of an SMTP session.',
  fields: (t) => ({
    version: t.string({ description: 'The protocol version, such as TLSv1.3.', resolve: ({ protocol }) => protocol }),
    cipher: t.exposeString('cipher', { description: 'The name of the cipher suite.' }),
    verified: t.boolean({
      description: 'Whether the certificate of the server was valid.',
      resolve: ({ authorized }) => authorized,
    }),
  }),
});

const PhaseTiming = builder.objectRef<{ readonly phase: string; readonly ms: number }>('PhaseTiming').implement({
  description: 'The duration of one stage of an attempt.',
  fields: (t) => ({
    phase: t.exposeString('phase', { description: 'connect, tls, mail or data.' }),
    ms: t.exposeFloat('ms', { description: 'The duration in milliseconds.' }),
  }),
});

interface Line {
  readonly side: 'client' | 'server' | 'note';
  readonly text: string;
}

const SmtpLine = builder.objectRef<Line>('SmtpLine').implement({
  description: 'One line of an SMTP transcript.',
  fields: (t) => ({
    from: t.field({ type: SmtpSide, description: 'The side that sent the line.', resolve: ({ side }) => side }),
    text: t.exposeString('text', { description: 'The line without its prefix.' }),
  }),
});

// A filter may read thousands of events and find few or no matches.
const SEARCH_POINTS = 100;

claimIds('attempt', 'Attempt', SEARCH_POINTS);
builder.node(Attempt, {
  description: 'An attempt to deliver an email to one recipient.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.attemptsById.loadMany(ids),
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 for the first attempt.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the attempt began.',
      resolve: ({ started_at }) => started_at,
    }),
    durationMs: t.int({
      description: 'The duration of the attempt in milliseconds.',
      resolve: ({ started_at, finished_at }) => Date.parse(finished_at) - Date.parse(started_at),
    }),
    outcome: t.field({
      type: AttemptOutcome,
      description: 'The result of the attempt.',
      resolve: ({ outcome }) => outcome,
    }),
    category: t.exposeString('category', { nullable: true, description: 'The rejection category.' }),
    stage: t.exposeString('stage', {
      description: 'The SMTP stage reached; worker_lost if the worker died before recording it.',
    }),
    transportId: t.id({
      nullable: true,
      description: 'The transport that was tried last; null: the default one.',
      resolve: ({ transport_id }) => transport_id,
    }),
    mxHost: t.string({
      nullable: true,
      description: 'The server contacted; null if none.',
      resolve: ({ target }) => (target === '' ? null : target),
    }),
    remoteIp: t.string({
      nullable: true,
      description: 'The IP address of the server; null if none was contacted.',
      resolve: ({ address }) => address,
    }),
    tls: t.field({
      type: TlsInfo,
      nullable: true,
      description: 'The TLS session; null: no TLS.',
      resolve: ({ tls }) => tls,
    }),
    smtpCode: t.int({
      nullable: true,
      description: 'The reply code of the server, such as 250; null: no reply.',
      resolve: ({ reply }) => reply?.code ?? null,
    }),
    enhancedCode: t.string({
      nullable: true,
      description: 'The enhanced status code of the reply, such as 5.1.1; null: none.',
      resolve: ({ reply }) => reply?.enhanced ?? null,
    }),
    reply: t.string({
      nullable: true,
      description: 'The text of the reply; null: no reply.',
      resolve: ({ reply }) => reply?.text ?? null,
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'An error other than the reply, such as a timeout; null: none.',
    }),
    failureGroup: t.field({
      type: FailureGroup,
      nullable: true,
      description: 'The group of similar failures over the last day; null if it has not been counted.',
      complexity: 2,
      resolve: (attempt, _, { load }) =>
        attempt.outcome === 'accepted' ? null : load.failureGroups.load(lastResponse(attempt)),
    }),
    transcript: t.field({
      type: [SmtpLine],
      nullable: true,
      description: 'The SMTP session; null if it was not stored or has expired.',
      resolve: ({ transcript }) => transcript?.trimEnd().split('\n').map(lineOf) ?? null,
    }),
    phases: t.field({
      type: [PhaseTiming],
      description: 'The duration of each stage.',
      resolve: ({ phases_ms }) => Object.entries(phases_ms).map(([phase, ms]) => ({ phase, ms })),
    }),
    recipients: t.field({
      type: [Recipient],
      description: 'The recipient of the attempt; empty once the message has expired.',
      async resolve({ email_id, recipient_id }, _, { load }) {
        const email = await load.messages.load(email_id);
        const recipient = email && recipientOf(email, recipient_id);
        return recipient ? [recipient] : [];
      },
    }),
  }),
});

export const AttemptConnection = connectionOf(Attempt);

/**
 * Parses a transcript line: `C: RCPT TO…` is from the client, `S:` is from the server, and all other lines describe the
 * session.
 */
function lineOf(line: string): Line {
  if (line.startsWith('C: ')) return { side: 'client', text: line.slice(3) };
  if (line.startsWith('S: ')) return { side: 'server', text: line.slice(3) };
  return { side: 'note', text: line.replace(/^-- /, '') };
}
