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
const SmtpSide = enumOf('SmtpSide', ['client', 'server', 'note']);

const TlsInfo = builder.objectRef<NonNullable<MessageAttempt['tls']>>('TlsInfo').implement({
  fields: (t) => ({
    version: t.string({ resolve: ({ protocol }) => protocol }),
    cipher: t.exposeString('cipher'),
    verified: t.boolean({ resolve: ({ authorized }) => authorized }),
  }),
});

const PhaseTiming = builder.objectRef<{ readonly phase: string; readonly ms: number }>('PhaseTiming').implement({
  fields: (t) => ({ phase: t.exposeString('phase'), ms: t.exposeFloat('ms') }),
});

interface Line {
  readonly side: 'client' | 'server' | 'note';
  readonly text: string;
}

const SmtpLine = builder.objectRef<Line>('SmtpLine').implement({
  fields: (t) => ({
    from: t.field({ type: SmtpSide, resolve: ({ side }) => side }),
    text: t.exposeString('text'),
  }),
});

// A filter may read thousands of events and find few or no matches.
const SEARCH_POINTS = 100;

claimIds('attempt', 'Attempt', SEARCH_POINTS);
builder.node(Attempt, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.attemptsById.loadMany(ids),
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 for the first attempt.' }),
    startedAt: t.field({ type: 'DateTime', resolve: ({ started_at }) => started_at }),
    durationMs: t.int({
      resolve: ({ started_at, finished_at }) => Date.parse(finished_at) - Date.parse(started_at),
    }),
    outcome: t.field({ type: AttemptOutcome, resolve: ({ outcome }) => outcome }),
    category: t.exposeString('category', { nullable: true, description: 'The rejection category.' }),
    stage: t.exposeString('stage', {
      description: 'The SMTP stage reached; worker_lost if the worker died before recording it.',
    }),
    mxHost: t.string({ nullable: true, resolve: ({ target }) => (target === '' ? null : target) }),
    remoteIp: t.string({ nullable: true, resolve: ({ address }) => address }),
    tls: t.field({ type: TlsInfo, nullable: true, resolve: ({ tls }) => tls }),
    smtpCode: t.int({ nullable: true, resolve: ({ reply }) => reply?.code ?? null }),
    enhancedCode: t.string({ nullable: true, resolve: ({ reply }) => reply?.enhanced ?? null }),
    reply: t.string({ nullable: true, resolve: ({ reply }) => reply?.text ?? null }),
    error: t.exposeString('error', { nullable: true }),
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
      resolve: ({ transcript }) => transcript?.trimEnd().split('\n').map(lineOf) ?? null,
    }),
    phases: t.field({
      type: [PhaseTiming],
      resolve: ({ phases_ms }) => Object.entries(phases_ms).map(([phase, ms]) => ({ phase, ms })),
    }),
    recipients: t.field({
      type: [Recipient],
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
