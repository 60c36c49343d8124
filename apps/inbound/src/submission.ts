import { isIP } from 'node:net';
import { AppError, type Context, createContext, invoke, newId, type Services } from '@postrider/core';
import { readIdempotencyKey, sendMessage } from '@postrider/core/accept';
import { authenticate, checkPassword, refuseAddress, type SmtpLogin } from '@postrider/core/api-keys';
import {
  countRejected,
  FairLine,
  NetworkPlaces,
  Places,
  parsingBounds,
  ShareRejected,
  submissionByteBounds,
  submissionClientBounds,
  submissionStrangerBounds,
} from '@postrider/core/shares';
import { createSubmissionReader, type Reply, type SubmittedMail, startSubmissionServer } from '@postrider/mail';
import { certificateOf, watchCertificate } from './certificate.ts';
import { refusedLogin, replyTo } from './replies.ts';

const USER = 'api';
const BUSY: Reply = {
  code: 451,
  enhanced: '4.3.2',
  text: 'Too many messages from this workspace are waiting; send fewer in parallel and try again',
};
const UNREAD: Reply = { code: 451, enhanced: '4.3.0', text: 'Timed out reading the message; try again' };
const UNREADABLE: Reply = { code: 554, enhanced: '5.6.0', text: 'The message is not valid MIME' };
// The API's largest message as MIME: encoded, with line breaks and header fields.
const MAX_BYTES = 15 * 1024 * 1024;

export interface Submission {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts SMTP submission, which exposes the API's accept path to programs that speak SMTP. */
export async function startSubmission(
  services: Services,
  port: number,
  { implicit }: { readonly implicit: boolean },
): Promise<Submission> {
  const { config, log } = services;
  const tls = await certificateOf(services);
  const local = isLoopback(config.HOST);
  if (tls === null && (implicit || !local)) {
    const name = implicit ? 'SUBMISSIONS_PORT' : 'SUBMISSION_PORT';
    throw new Error(`${name} requires a certificate. Set TLS_CERT_FILE and TLS_KEY_FILE, or listen on 127.0.0.1 only.`);
  }
  const reader = createSubmissionReader();

  const line = new FairLine('submission_parsing', parsingBounds(reader.threads), services.metrics);

  /** Parses a message. Returns null if too many of the workspace's messages are waiting. */
  async function read(workspace_id: string, raw: Buffer, recipients: readonly string[]) {
    let leave: () => void;
    try {
      leave = await line.enter(workspace_id);
    } catch (error) {
      if (error instanceof ShareRejected) return null;
      throw error;
    }
    try {
      return await reader.read(raw, recipients);
    } finally {
      leave();
    }
  }

  async function onMail(
    { credential }: SmtpLogin,
    { recipients, raw }: SubmittedMail,
    address: string,
  ): Promise<Reply> {
    const request_id = newId('request', services.clock.now());
    // Counted before parsing, which is the most expensive step.
    const admitted = await authenticate(services, credential, 'send');
    if ('error' in admitted) return replyTo(admitted.error);
    const { actor } = admitted;
    const submission = await read(actor.workspace_id, raw, recipients);
    if (submission === null) return BUSY;
    if (submission.kind === 'unreadable') {
      const { why, lost } = submission;
      log.warn(
        { request_id, workspace_id: actor.workspace_id, why, bytes: raw.length },
        'failed to parse a submitted message',
      );
      return lost ? UNREAD : UNREADABLE;
    }
    if (submission.kind === 'refused') return { code: 554, enhanced: '5.6.0', text: `Rejected: ${submission.why}` };
    const { fields, idempotency_key: raw_key } = submission;
    const idempotency_key = raw_key === null ? null : readIdempotencyKey(raw_key);
    if (idempotency_key instanceof AppError) return replyTo(idempotency_key);
    const ctx: Context = createContext(services, actor, {
      request_id,
      idempotency_key,
      via: 'smtp',
      address,
      send_counted: true,
    });
    try {
      const { id } = await invoke(ctx, sendMessage, fields);
      return { code: 250, enhanced: '2.0.0', text: `Accepted as ${id}` };
    } catch (error) {
      if (error instanceof AppError) return replyTo(error);
      log.error({ err: error, request_id }, 'failed to accept a submitted message');
      return { code: 451, enhanced: '4.3.0', text: 'Internal error; try again' };
    }
  }

  const { metrics } = services;
  const server = await startSubmissionServer<SmtpLogin>({
    host: config.HOST,
    port,
    name: config.HELO_NAME ?? 'localhost',
    tls,
    implicit,
    plaintext: local,
    max_bytes: MAX_BYTES,
    strangers: new NetworkPlaces(submissionStrangerBounds, countRejected(metrics, 'submission_strangers')),
    clients: new Places(submissionClientBounds, countRejected(metrics, 'submission_clients')),
    bytes: new Places(submissionByteBounds, countRejected(metrics, 'submission_bytes')),
    senderOf: ({ workspace_id }) => workspace_id,
    onLogin: (user, password, address) => login(services, user, password, address),
    onMail,
  });
  const unwatch = watchCertificate(services, (renewed) => server.useCertificate(renewed));
  return {
    port: server.port,
    async stop() {
      unwatch();
      line.stop();
      await Promise.all([server.stop(), reader.stop()]);
    },
  };
}

/** A wrong user name or password counts against the client address, like an invalid key. */
async function login(services: Services, user: string, password: string, address: string): Promise<SmtpLogin | Reply> {
  if (user !== USER) {
    const refusal = new AppError('malformed_key', `Log in as user ${USER} with an API key as the password.`);
    return refusedLogin((await refuseAddress(services, address, refusal)).error);
  }
  const accepted = await checkPassword(services, password, address);
  return accepted instanceof AppError ? refusedLogin(accepted) : accepted;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
