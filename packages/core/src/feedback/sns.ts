import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import { ageProblem } from './proofs.ts';
import type { FeedbackPost, ProofContext } from './provider.ts';

// Amazon SNS signs with a key whose certificate it serves itself. Any account can sign, so the topic is part of the
// proof: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html

export const SNS_TOPIC = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/;
const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/;
const CONFIRM = 'ConfirmSubscription';
/** The digest of a signature by its version. */
const DIGESTS: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' };
const SECOND_MS = 1000;

const envelopeSchema = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().optional(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.string(),
  Signature: z.string(),
  SigningCertURL: z.string(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
});
type Envelope = z.output<typeof envelopeSchema>;

/** Returns the envelope of a request of SNS, whatever its Content-Type says; null if it has none. */
export function snsEnvelope({ body }: FeedbackPost): Envelope | null {
  try {
    return envelopeSchema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** Checks a request of any type against the one topic that may report. */
export async function snsProblem(
  post: FeedbackPost,
  topic: string,
  { now_ms, certificateAt }: ProofContext,
): Promise<string | null> {
  const envelope = snsEnvelope(post);
  if (!envelope) return 'The body is no message of SNS. Raw message delivery has to be off.';
  if (envelope.TopicArn !== topic) return 'The topic is another one.';
  const url = snsUrl(envelope.SigningCertURL);
  if (!url?.pathname.endsWith('.pem')) return 'The certificate is not served by SNS.';
  const digest = DIGESTS[envelope.SignatureVersion];
  if (digest === undefined) return 'The version of the signature is unknown.';
  const problem = ageProblem(String(Date.parse(envelope.Timestamp) / SECOND_MS), now_ms);
  if (problem !== null) return problem;
  const certificate = await certificateAt(url);
  try {
    const key = createPublicKey(certificate);
    const signature = Buffer.from(envelope.Signature, 'base64');
    return verify(digest, Buffer.from(signedText(envelope)), key, signature) ? null : 'The signature does not match.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the URL that confirms a subscription to the topic; null if the request asks for nothing of that kind. */
export function snsConfirmation(post: FeedbackPost): URL | null {
  const envelope = snsEnvelope(post);
  if (envelope?.Type !== 'SubscriptionConfirmation') return null;
  const url = snsUrl(envelope.SubscribeURL ?? '');
  const is_confirmation =
    url?.searchParams.get('Action') === CONFIRM &&
    url.searchParams.get('TopicArn') === envelope.TopicArn &&
    url.host === snsUrl(envelope.SigningCertURL)?.host;
  return is_confirmation ? url : null;
}

/** Visiting the URL of an UnsubscribeConfirmation would subscribe again, which its sender may not want. */
export function snsWarning(post: FeedbackPost): string | null {
  return snsEnvelope(post)?.Type === 'UnsubscribeConfirmation' ? 'the subscription to the topic has ended' : null;
}

function snsUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const is_sns = url?.protocol === 'https:' && HOST.test(url.hostname) && url.port === '' && url.username === '';
  return is_sns ? url : null;
}

function signedText(envelope: Envelope): string {
  const names =
    envelope.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : (['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const);
  return names.map((name) => (envelope[name] === undefined ? '' : `${name}\n${envelope[name]}\n`)).join('');
}
