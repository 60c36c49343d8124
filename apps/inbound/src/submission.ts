import { isIP } from 'node:net';
import {
  AppError,
  type Context,
  type Credential,
  createContext,
  type ErrorCode,
  invoke,
  newId,
  type Reason,
  type Services,
} from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { checkKey, readCredential, refuseAddress } from '@postrider/core/api-keys';
import { createSubmissionReader, type Reply, type SubmittedMail, startSubmissionServer } from '@postrider/mail';
import { certificateOf, watchCertificate } from './certificate.ts';

const USER = 'api';
// The largest message of the API, as MIME: encoded, with line breaks and header fields.
const MOST_BYTES = 15 * 1024 * 1024;

export interface Submission {
  readonly port: number;
  stop(): Promise<void>;
}

const byCode: Readonly<Record<ErrorCode, readonly [code: number, enhanced: string]>> = {
  invalid_request: [554, '5.6.0'],
  unauthorized: [535, '5.7.8'],
  forbidden: [550, '5.7.1'],
  not_found: [554, '5.6.0'],
  unprocessable: [554, '5.7.1'],
  rate_limited: [451, '4.7.1'],
  internal_error: [451, '4.3.0'],
};
const byReason: Partial<Record<Reason, readonly [code: number, enhanced: string]>> = {
  invalid_email: [553, '5.1.3'],
  body_too_large: [552, '5.3.4'],
  too_many_recipients: [452, '4.5.3'],
  all_recipients_suppressed: [550, '5.7.1'],
  idempotency_in_progress: [451, '4.7.1'],
};

/** SMTP submission: the accept path of the API for programs that speak SMTP. */
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
    throw new Error(`${name} needs a certificate: set TLS_CERT_FILE and TLS_KEY_FILE, or listen on 127.0.0.1 only.`);
  }
  const reader = createSubmissionReader();

  async function onMail(credential: Credential, { recipients, raw }: SubmittedMail): Promise<Reply> {
    const request_id = newId('request', services.clock.now());
    const submission = await reader.read(raw, recipients);
    if (submission.kind === 'unreadable')
      return { code: 554, enhanced: '5.6.0', text: 'The mail is not readable as MIME' };
    if (submission.kind === 'refused') return { code: 554, enhanced: '5.6.0', text: `Refused: ${submission.why}` };
    const ctx: Context = createContext(services, credential, {
      request_id,
      idempotency_key: submission.idempotency_key,
      via: 'rest',
    });
    try {
      const { id } = await invoke(ctx, sendMessage, submission.fields);
      return { code: 250, enhanced: '2.0.0', text: `Accepted as ${id}` };
    } catch (error) {
      if (error instanceof AppError) return replyTo(error);
      log.error({ err: error, request_id }, 'a submitted mail could not be accepted');
      return { code: 451, enhanced: '4.3.0', text: 'Internal error; try again' };
    }
  }

  const server = await startSubmissionServer<Credential>({
    host: config.HOST,
    port,
    name: config.HELO_NAME ?? 'localhost',
    tls,
    implicit,
    plaintext: local,
    max_bytes: MOST_BYTES,
    onLogin: (user, password, address) => login(services, user, password, address),
    onMail,
  });
  const unwatch = watchCertificate(services, (renewed) => server.useCertificate(renewed));
  return {
    port: server.port,
    async stop() {
      unwatch();
      await Promise.all([server.stop(), reader.stop()]);
    },
  };
}

/** Wrong passwords count against the client address, as wrong keys do. */
async function login(services: Services, user: string, password: string, address: string): Promise<Credential | Reply> {
  const credential = readCredential(password, address);
  const refusal =
    user !== USER
      ? new AppError('malformed_key', `Log in as the user ${USER}, with an API key as the password.`)
      : credential instanceof AppError
        ? credential
        : await checkKey(services, credential);
  if (refusal === null && !(credential instanceof AppError)) return credential;
  const { error } = await refuseAddress(services, address, refusal ?? new AppError('unknown_key', 'No such API key.'));
  return error.code === 'rate_limited' ? { code: 421, enhanced: '4.7.0', text: error.message } : replyTo(error);
}

/** A refusal of the API as SMTP says it; the text is the same, on one line. */
function replyTo(error: AppError): Reply {
  const [code, enhanced] = byReason[error.reason] ?? byCode[error.code];
  return { code, enhanced, text: error.message.replace(/\s+/g, ' ').slice(0, 400) };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
