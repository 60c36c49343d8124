import { isOperator, type JobName } from '@postrider/core';
import { recipientKinds } from '@postrider/core/accept';
import { deliveryStates } from '@postrider/core/delivery';
import { explanationOf, type LogEntry, type Places, type RecipientEntry } from '@postrider/core/messages';
import { builder, type SchemaShape } from '../kit/builder.ts';
import { connectionOf } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import type { Loaders } from '../kit/loaders.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Attempt, Hold, Job, Message, Queue, Recipient, type RecipientOf, Suppression } from '../kit/refs.ts';

const MAIL_QUEUE = 'delivery.attempt' satisfies JobName;

export const RecipientStatus = enumOf(
  'RecipientStatus',
  deliveryStates,
  'Open in the order SCHEDULED, QUEUED, DEFERRED, SENDING; all others are closed.',
);
const RecipientKind = enumOf('RecipientKind', recipientKinds, 'The field that the address was first given in.');

type Schema = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>;
type Waiting = NonNullable<RecipientEntry['waiting']>;

/** A recipient that is waiting for its scheduled time. */
const WaitScheduled = builder.objectRef<RecipientOf>('WaitScheduled').implement({
  description: 'Its scheduled time has not come.',
  fields: (t) => ({
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is due.',
      resolve: ({ entry }) => entry.waiting?.until ?? null,
    }),
  }),
});
const WaitRetryBackoff = builder.objectRef<RecipientOf>('WaitRetryBackoff').implement({
  description: 'It was temporarily rejected and waits for its next attempt.',
  fields: (t) => ({
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due.',
      resolve: ({ entry }) => entry.waiting?.until ?? null,
    }),
    attempt: t.int({ description: 'Attempts so far.', resolve: ({ entry }) => entry.attempts }),
    lastReply: t.string({
      nullable: true,
      description: 'The last response from the receiving server; null: none.',
      resolve: ({ entry }) => entry.waiting?.last_reply ?? null,
    }),
  }),
});
const ThrottlePolicy = enumOf(
  'ThrottlePolicy',
  ['destination_failures', 'destination_limit', 'resume_rate'],
  'A failing destination, a limit set by an operator, or the resume rate after a hold.',
);
const WaitThrottle = builder.objectRef<RecipientOf>('WaitThrottle').implement({
  description: 'Its destination is closed temporarily, or resumes at a limited rate after a hold.',
  fields: (t) => ({
    policy: t.field({
      type: ThrottlePolicy,
      description: 'Why the destination is throttled.',
      resolve: ({ entry }) => entry.waiting?.policy?.kind ?? 'destination_failures',
    }),
    destination: t.string({
      nullable: true,
      description: 'A recipient domain, or a relay as host:port; null with RESUME_RATE.',
      resolve: ({ entry }) => entry.waiting?.policy?.destination ?? null,
    }),
    connections: t.int({
      nullable: true,
      description: 'The limit on concurrent emails; null: none.',
      resolve: ({ entry }) => entry.waiting?.policy?.connections ?? null,
    }),
    messagesPerMinute: t.int({
      nullable: true,
      description: 'The limit or resume rate in emails per minute; null: none.',
      resolve: ({ entry }) => entry.waiting?.policy?.messages_per_minute ?? null,
    }),
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the destination opens; null with RESUME_RATE.',
      resolve: ({ entry }) => entry.waiting?.until ?? null,
    }),
    lastReply: t.string({
      nullable: true,
      description: 'The last response from the receiving server; null: none.',
      resolve: ({ entry }) => entry.waiting?.last_reply ?? null,
    }),
  }),
});
// The cost of a queue position, which is counted per message.
const RECIPIENT_COUNTS_COST = 5;

async function placeOf({ id, email }: RecipientOf, load: Loaders): Promise<Places[number] | undefined> {
  return (await load.places.load(email.id)).find((place) => place.recipient_id === id);
}

const WaitInLine = builder.objectRef<RecipientOf>('WaitInLine').implement({
  description: 'Other email is ahead of it.',
  fields: (t) => ({
    ahead: t.int({
      nullable: true,
      complexity: RECIPIENT_COUNTS_COST,
      description:
        'Deliveries ahead of it, counted up to 10000, excluding those that a worker has fetched. null if it has just left the queue.',
      resolve: async (recipient, _, { load }) => (await placeOf(recipient, load))?.ahead ?? null,
    }),
    etaSeconds: t.int({
      nullable: true,
      complexity: RECIPIENT_COUNTS_COST,
      description: 'Estimated time until it is sent, at the rate of the last minute; null if unknown.',
      resolve: async (recipient, _, { load }) => (await placeOf(recipient, load))?.eta_seconds ?? null,
    }),
    lastReply: t.string({
      nullable: true,
      description: 'The last response from the receiving server; null: none.',
      resolve: ({ entry }) => entry.waiting?.last_reply ?? null,
    }),
  }),
});
/** Fields about a recipient's hold. The hold itself requires the admin scope. */
const heldFields = (t: PothosSchemaTypes.ObjectFieldBuilder<Schema, RecipientOf>) => ({
  reason: t.string({
    description: 'The reason given with the hold.',
    resolve: ({ entry }) => entry.waiting?.hold?.reason ?? '',
  }),
  until: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When it expires.',
    resolve: ({ entry }) => entry.waiting?.until ?? null,
  }),
  hold: t.field({
    type: Hold,
    nullable: true,
    description: 'Requires admin.',
    resolve: ({ entry }, _, { load }) => (entry.waiting?.hold ? load.holds.load(entry.waiting.hold.id) : null),
  }),
});
/** The delivery queue, for operators. */
const queueField = (t: PothosSchemaTypes.ObjectFieldBuilder<Schema, RecipientOf>) => ({
  queue: t.field({
    type: Queue,
    nullable: true,
    description: 'The delivery queue; null without operator.',
    async resolve(_, __, { ctx, load }) {
      if (!isOperator(ctx.actor)) return null;
      return (await load.queues()).find(({ name }) => name === MAIL_QUEUE) ?? null;
    },
  }),
});
const WaitHold = builder.objectRef<RecipientOf>('WaitHold').implement({
  description: 'Its destination, sending domain or API key is held.',
  fields: heldFields,
});
const WaitQueuePaused = builder.objectRef<RecipientOf>('WaitQueuePaused').implement({
  description: 'The email queue is held.',
  fields: (t) => ({ ...heldFields(t), ...queueField(t) }),
});
const WaitNoWorker = builder.objectRef<RecipientOf>('WaitNoWorker').implement({
  description: 'No worker is running.',
  fields: (t) => ({
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a worker was last seen, or when the email became due if no worker has ever been seen.',
      resolve: ({ entry }) => entry.waiting?.since ?? null,
    }),
    ...queueField(t),
  }),
});

const WaitTransportLimit = builder.objectRef<RecipientOf>('WaitTransportLimit').implement({
  description: 'The limit of its transport is used up.',
  fields: (t) => ({
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the limit applies again.',
      resolve: ({ entry }) => entry.waiting?.until ?? null,
    }),
    lastReply: t.string({
      nullable: true,
      description: 'The last response from the receiving server; null: none.',
      resolve: ({ entry }) => entry.waiting?.last_reply ?? null,
    }),
  }),
});

const reasonType: Record<Waiting['reason'], { readonly name: string }> = {
  scheduled: WaitScheduled,
  retry_backoff: WaitRetryBackoff,
  throttled: WaitThrottle,
  transport_limit: WaitTransportLimit,
  in_line: WaitInLine,
  hold: WaitHold,
  queue_paused: WaitQueuePaused,
  no_worker: WaitNoWorker,
};

export const WaitReason = builder.unionType('WaitReason', {
  description: 'Why something has not been sent yet.',
  types: [
    WaitScheduled,
    WaitRetryBackoff,
    WaitThrottle,
    WaitTransportLimit,
    WaitInLine,
    WaitHold,
    WaitQueuePaused,
    WaitNoWorker,
  ],
  resolveType: ({ entry }) => (entry.waiting ? reasonType[entry.waiting.reason].name : undefined),
});

const BounceClass = enumOf(
  'BounceClass',
  ['hard', 'soft'],
  'hard: the mailbox or its domain does not exist. Unknown causes are soft.',
);
const BounceReason = enumOf(
  'BounceReason',
  ['relay_suppressed'],
  "relay_suppressed: the relay didn't try, because the address is on a suppression list of its own.",
);
const Bounce = builder.objectRef<NonNullable<RecipientEntry['bounce']>>('Bounce').implement({
  description: 'The cause of a bounce.',
  fields: (t) => ({
    class: t.field({
      type: BounceClass,
      description: 'HARD: the mailbox or its domain does not exist. Unknown causes are SOFT.',
      resolve: (bounce) => bounce.class,
    }),
    category: t.exposeString('category', { description: 'The rejection category.' }),
    code: t.exposeString('code', { nullable: true, description: 'The enhanced status code, or the reply code.' }),
    reason: t.field({
      type: BounceReason,
      nullable: true,
      description: 'What the category does not say. null: nothing.',
      resolve: (bounce) => bounce.reason,
    }),
  }),
});

const Explanation = builder.objectRef<NonNullable<ReturnType<typeof explanationOf>>>('Explanation').implement({
  description: 'A response of the receiving server in plain words. The texts may change.',
  fields: (t) => ({
    cause: t.exposeString('cause', { description: 'A stable name, such as mailbox_full.' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'The mailbox provider whose wording was recognized.',
    }),
    meaning: t.exposeString('meaning', { description: 'What happened.' }),
    action: t.exposeString('action', { description: 'What the sender can do.' }),
  }),
});

claimIds('recipient', 'Recipient');
builder.node(Recipient, {
  description: 'A unique address that a message is sent to.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { load }) {
    const emails = await load.messagesByRecipient.loadMany(ids);
    return ids.map((id, index) => {
      const email = emails[index];
      return email ? recipientOf(email, id) : null;
    });
  },
  fields: (t) => ({
    address: t.field({ type: 'EmailAddress', description: 'The email address.', resolve: ({ entry }) => entry.email }),
    kind: t.field({
      type: RecipientKind,
      description: 'The field that the address was first given in.',
      resolve: ({ entry }) => entry.kind,
    }),
    status: t.field({
      type: RecipientStatus,
      description: 'The status for this recipient.',
      resolve: ({ entry }) => entry.status,
    }),
    captured: t.boolean({
      description: 'Whether the email went to the test inbox instead of a mail server. That counts as delivered.',
      resolve: ({ entry }) => entry.captured,
    }),
    relayed: t.boolean({
      nullable: true,
      description:
        "What delivered means here. true: a relay accepted the email. false: the recipient's server did, or it was captured. null: not delivered, or delivered before this was recorded.",
      resolve: ({ entry }) => entry.relayed,
    }),
    confirmedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: "When the relay reported that the recipient's server accepted the email.",
      resolve: ({ entry }) => entry.confirmed_at,
    }),
    destination: t.string({
      description: 'The recipient domain.',
      resolve: ({ entry }) => entry.email.slice(entry.email.lastIndexOf('@') + 1),
    }),
    attemptCount: t.int({ description: 'Number of attempts so far.', resolve: ({ entry }) => entry.attempts }),
    lastResponse: t.string({
      nullable: true,
      description: 'The last response from the receiving server.',
      resolve: ({ entry }) => entry.last_response,
    }),
    lastAttempt: t.field({
      type: Attempt,
      nullable: true,
      description: 'The latest attempt; null: none, or it has expired.',
      async resolve({ id, email }, _, { load }) {
        const attempts = await load.lastAttempts.load(email.id);
        return attempts.find((attempt) => attempt.recipient_id === id) ?? null;
      },
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null unless scheduled or deferred.',
      resolve: ({ entry }) => entry.next_attempt_at,
    }),
    bounce: t.field({
      type: Bounce,
      nullable: true,
      description: 'null unless its status is bounced.',
      resolve: ({ entry }) => entry.bounce,
    }),
    explanation: t.field({
      type: Explanation,
      nullable: true,
      description: 'What the last response means, while deferred and after a bounce or failure.',
      resolve: ({ entry }) => explanationOf(entry),
    }),
    waiting: t.field({
      type: WaitReason,
      nullable: true,
      description: 'Why it has not been sent yet; null while sending and when closed.',
      resolve: (recipient) => (recipient.entry.waiting === null ? null : recipient),
    }),
    job: t.field({
      type: Job,
      nullable: true,
      description: 'The job that sends it; null when closed. Requires operator.',
      async resolve({ id, email }, _, { load }) {
        const jobs = await load.jobsByMessage.load(email.id);
        const job = jobs.find(({ recipient_id }) => recipient_id === id);
        return job ? load.jobs.load(job.job_id) : null;
      },
    }),
    suppression: t.field({
      type: Suppression,
      nullable: true,
      description: 'The current suppression of the address.',
      resolve: ({ entry }, _, { load }) => load.suppressionsByEmail.load(entry.email),
    }),
    message: t.field({ type: Message, description: 'The message that is sent to it.', resolve: ({ email }) => email }),
  }),
});

export const RecipientConnection = connectionOf(Recipient);

export function recipientsOf(email: LogEntry): RecipientOf[] {
  return email.recipients.map((entry) => ({ id: entry.id, entry, email }));
}

export function recipientOf(email: LogEntry, id: string): RecipientOf | null {
  const entry = email.recipients.find((one) => one.id === id);
  return entry ? { id, entry, email } : null;
}
