export { canonicalDomain, type Mailbox, type ParsedMailbox, parseMailbox } from './address/address.ts';
export { domainOf } from './address/domain-of.ts';
export { formatMailbox } from './address/format-mailbox.ts';
export type { ReportAction, ReportedRecipient } from './bounce/report-fields.ts';
export {
  type CameBack,
  type ReturnServer,
  type ReturnServerOptions,
  startReturnServer,
} from './bounce/return-server.ts';
export type { ReturnedMail, ReturnedReport } from './bounce/returned-kinds.ts';
export { readReturnedMail } from './bounce/returned-mail.ts';
export {
  createReturnedMailReader,
  type ReadResult,
  type ReturnedMailReader,
  type ReturnedMailReaderOptions,
} from './bounce/returned-mail-reader.ts';
export { type CaptureReader, createCaptureReader } from './capture/capture-reader.ts';
export {
  type CapturedMail,
  type CaptureServer,
  type CaptureServerOptions,
  startCaptureServer,
} from './capture/capture-server.ts';
export { type MailAddress, type ReadAttachment, type ReadMail, readMail } from './capture/read-mail.ts';
export { compose, type OutgoingAttachment, type OutgoingMessage } from './compose/compose.ts';
export { type HeaderProblem, headerProblem, holdsControl } from './compose/header-rules.ts';
export { isSteeringHeader } from './compose/steering-headers.ts';
export { textFromHtml } from './compose/text-from-html.ts';
export { composeSigned } from './dkim/compose-signed.ts';
export { type DkimKey, REWRITTEN_BY_RELAYS, signDkim } from './dkim/dkim.ts';
export { createMailer, failedUnderway, followedBy, type MailerOptions } from './mailer.ts';
export { createGuardedDialer } from './mx/guarded-dialer.ts';
export type { FetchedPolicy, StsPolicyStore } from './mx/sts-policies.ts';
export { createMxTransport, type MxTransportOptions } from './mx/transport.ts';
export { type Reply, readReply, replyLine } from './outcome/reply.ts';
export type { Envelope, Mailer, Raw, SendOutcome, SendStage, TlsFacts, TlsPolicy } from './outcome/send-outcome.ts';
export { createSimulatorMailer } from './simulator/mailer.ts';
export { isSimulatorLane } from './simulator/script.ts';
export { type SimulatorOptions, startSimulator } from './simulator/server.ts';
export { createSmtpTransport, isThisMachine, type SmtpTransportOptions } from './smtp/client.ts';
export { type Dialer, targetOf } from './smtp/route.ts';
export { type ConnectionTest, testConnection } from './smtp/test-connection.ts';
export { DEFAULT_TIMEOUTS, type SmtpTimeouts } from './smtp/timeouts.ts';
export { createSubmissionReader, type SubmissionReader } from './submission/submission-reader.ts';
export {
  type Certificate,
  type SubmissionServer,
  type SubmittedMail,
  startSubmissionServer,
} from './submission/submission-server.ts';
