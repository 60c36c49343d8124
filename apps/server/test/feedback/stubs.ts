import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { snsCertificate } from '@postrider/testing';
import { Webhook } from 'standardwebhooks';

// Stubs that report in the documented form of each provider; none of them was tried live.

export const SNS_HOST = 'sns.eu-central-1.amazonaws.com';
export const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:postrider';

export interface Report {
  /** suppressed: the provider did not try, because of a list of its own. */
  readonly kind: 'bounced' | 'complained' | 'delayed' | 'delivered' | 'suppressed';
  readonly id: string;
  readonly recipient: string;
  readonly message_id: string;
  readonly reference: string;
}

export interface Post {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** How a provider reports, as a stub. */
export interface Stub {
  /** The secret that the provider shows; undefined: it uses ours. */
  readonly secret?: string;
  /** Reads our reference from the header that the provider takes; absent if it repeats none. */
  referenceIn?(email: string): string | undefined;
  post(report: Report, secret: string): Post;
}

const now = () => String(Math.floor(Date.now() / 1000));
export const json = { 'content-type': 'application/json' };
export const DIAGNOSTIC = '550 5.1.1 no such user';
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const headerIn = (email: string, name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(email)?.[1];
const basic = (secret: string) => `Basic ${Buffer.from(`postrider:${secret}`).toString('base64')}`;

function standard(prefix: string, secret: string, id: string, body: string): Post {
  const at = new Date(Date.now());
  return {
    headers: {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
      [`${prefix}-signature`]: new Webhook(secret).sign(id, at, body),
    },
    body,
  };
}

/** The ID that the stub of SES gives an email. */
export const sesId = (to: string) => `0107019${createHash('sha256').update(to).digest('hex').slice(0, 20)}-000000`;

export interface SnsMessage {
  readonly Type?: string;
  readonly MessageId: string;
  readonly Message: string;
  readonly TopicArn?: string;
  readonly Token?: string;
  readonly SubscribeURL?: string;
  readonly Timestamp?: string;
}

/** The first request to a new subscription. */
export const snsSubscription = {
  Type: 'SubscriptionConfirmation',
  MessageId: 'question',
  Message: 'You have chosen to subscribe.',
  Token: 'abc',
  SubscribeURL: `https://${SNS_HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`,
};

/** Signs like SNS. */
export function snsPost(fields: SnsMessage, { key = snsCertificate.key, host = SNS_HOST, version = '1' } = {}): Post {
  const message = { Type: 'Notification', TopicArn: TOPIC, Timestamp: new Date(Date.now()).toISOString(), ...fields };
  const names = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const;
  const lines = names.flatMap((name) => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`]));
  const digest = version === '1' ? 'sha1' : 'sha256';
  const Signature = sign(digest, Buffer.from(lines.join('')), key).toString('base64');
  const SigningCertURL = `https://${host}/SimpleNotificationService-0123.pem`;
  const body = JSON.stringify({ ...message, SignatureVersion: version, Signature, SigningCertURL });
  return { headers: { 'content-type': 'text/plain; charset=UTF-8' }, body };
}

export function sesNotification({ kind, recipient }: Pick<Report, 'kind' | 'recipient'>): string {
  const entry = { emailAddress: recipient, status: '5.1.1', diagnosticCode: `smtp; ${DIAGNOSTIC}` };
  const changes = {
    bounced: {
      notificationType: 'Bounce',
      bounce: { bounceType: 'Permanent', bounceSubType: 'General', bouncedRecipients: [entry] },
    },
    complained: { notificationType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: recipient }] } },
    // Only events of a configuration set say this.
    delayed: {
      eventType: 'DeliveryDelay',
      deliveryDelay: { delayedRecipients: [{ emailAddress: recipient, status: '4.4.7', diagnosticCode: '451 later' }] },
    },
    delivered: { notificationType: 'Delivery', delivery: { recipients: [recipient], smtpResponse: '250 ok' } },
    suppressed: {
      notificationType: 'Bounce',
      bounce: { bounceType: 'Permanent', bounceSubType: 'OnAccountSuppressionList', bouncedRecipients: [entry] },
    },
  };
  return JSON.stringify({ ...changes[kind], mail: { messageId: sesId(recipient), destination: [recipient] } });
}

export const stubs: Readonly<Record<string, Stub>> = {
  generic: {
    referenceIn: (email) => headerIn(email, 'X-Postrider-Ref'),
    post: ({ kind, id, reference }, secret) =>
      standard('webhook', secret, id, JSON.stringify({ type: kind, ref: reference, diagnostic: DIAGNOSTIC })),
  },
  ses: {
    secret: TOPIC,
    post: (report) => snsPost({ MessageId: report.id, Message: sesNotification(report) }),
  },
  postmark: {
    referenceIn: (email) => headerIn(email, 'X-PM-Metadata-postrider'),
    post({ kind, id, recipient, reference }, secret) {
      const Metadata = { postrider: reference };
      const entry = {
        bounced: { RecordType: 'Bounce', Type: 'HardBounce', ID: id, Email: recipient, Details: DIAGNOSTIC, Metadata },
        delayed: { RecordType: 'Bounce', Type: 'Transient', ID: id, Email: recipient, Details: '451 later', Metadata },
        complained: { RecordType: 'SpamComplaint', Type: 'SpamComplaint', ID: id, Email: recipient, Metadata },
        delivered: { RecordType: 'Delivery', MessageID: id, Recipient: recipient, Metadata },
        suppressed: { RecordType: 'Bounce', Type: 'SMTPApiError', ID: id, Email: recipient, Metadata },
      }[kind];
      return { headers: { ...json, authorization: basic(secret) }, body: JSON.stringify(entry) };
    },
  },
  sendgrid: {
    secret: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    referenceIn: (email) => JSON.parse(headerIn(email, 'X-SMTPAPI') ?? '{}').unique_args?.postrider,
    post({ kind, id, recipient, reference }) {
      const event = {
        ...{ bounced: 'bounce', complained: 'spamreport', delayed: 'deferred', delivered: 'delivered' },
        suppressed: 'dropped',
      }[kind];
      const entry = { event, email: recipient, sg_event_id: id, reason: DIAGNOSTIC, postrider: reference };
      const body = JSON.stringify([entry, { event: 'open', email: recipient, sg_event_id: `${id}-open` }]);
      const timestamp = now();
      const signature = sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64');
      const prefix = 'x-twilio-email-event-webhook';
      return { headers: { ...json, [`${prefix}-signature`]: signature, [`${prefix}-timestamp`]: timestamp }, body };
    },
  },
  mailgun: {
    secret: 'a signing key',
    referenceIn: (email) => JSON.parse(headerIn(email, 'X-Mailgun-Variables') ?? '{}').postrider,
    post({ kind, id, recipient, reference }, secret) {
      const timestamp = now();
      const signature = createHmac('sha256', secret)
        .update(timestamp + id)
        .digest('hex');
      const data = {
        id,
        ...(kind === 'bounced' && { event: 'failed', severity: 'permanent' }),
        ...(kind === 'delayed' && { event: 'failed', severity: 'temporary' }),
        ...(kind === 'suppressed' && { event: 'failed', severity: 'permanent', reason: 'suppress-bounce' }),
        ...((kind === 'complained' || kind === 'delivered') && { event: kind }),
        recipient,
        'delivery-status': { code: 550, message: '5.1.1 no such user' },
        'user-variables': { postrider: reference },
      };
      const body = JSON.stringify({ signature: { timestamp, token: id, signature }, 'event-data': data });
      return { headers: json, body };
    },
  },
  resend: {
    secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    referenceIn: (email) => headerIn(email, 'X-Postrider-Ref'),
    post({ kind, id, recipient, reference }, secret) {
      const type = kind === 'delayed' ? 'email.delivery_delayed' : `email.${kind}`;
      const headers = [{ name: 'X-Postrider-Ref', value: reference }];
      const bounce = kind === 'bounced' ? { message: DIAGNOSTIC, type: 'Permanent' } : undefined;
      const body = JSON.stringify({ type, created_at: now(), data: { to: [recipient], headers, bounce } });
      return standard('svix', secret, id, body);
    },
  },
  brevo: {
    referenceIn: (email) => headerIn(email, 'X-Mailin-custom'),
    post({ kind, recipient, message_id, reference }, secret) {
      const event = {
        ...{ bounced: 'hard_bounce', complained: 'spam', delayed: 'deferred', delivered: 'delivered' },
        suppressed: 'blocked',
      }[kind];
      const entry = {
        event,
        email: recipient,
        'message-id': `<${message_id}>`,
        ts_epoch: 1_800_000_000,
        reason: DIAGNOSTIC,
        'X-Mailin-custom': reference,
      };
      return { headers: { ...json, authorization: `Bearer ${secret}` }, body: JSON.stringify(entry) };
    },
  },
};
