export { canonicalDomain, type Mailbox, type ParsedMailbox, parseMailbox } from './address.ts';
export { compose, type OutgoingAttachment, type OutgoingMessage } from './compose.ts';
export { composeSigned } from './compose-signed.ts';
export { type DkimKey, signDkim } from './dkim.ts';
export { type ReportAction, type ReportedRecipient, type ReturnedMail, readReturnedMail } from './dsn.ts';
export { formatMailbox } from './format-mailbox.ts';
export { type HeaderProblem, headerProblem } from './header-rules.ts';
export { createHttpGuard, type HttpGuard, type HttpGuardOptions, type HttpOutcome } from './http-guard.ts';
export { createMailer, type MailerOptions } from './mailer.ts';
export { createAddressGuard } from './mx/address-guard.ts';
export type { FetchedPolicy, StsPolicyStore } from './mx/sts-policies.ts';
export { createMxTransport, type MxTransportOptions } from './mx/transport.ts';
export { type MailAddress, type ReadAttachment, type ReadMail, readMail } from './read-mail.ts';
export { cleanRemoteText, type Reply, readReply, replyLine } from './reply.ts';
export {
  createReturnedMailReader,
  type ReadResult,
  type ReturnedMailReader,
  type ReturnedMailReaderOptions,
} from './returned-mail-reader.ts';
export type { Envelope, Mailer, Raw, SendOutcome, SendStage, TlsFacts, TlsPolicy } from './send-outcome.ts';
export { createSimulatorMailer } from './simulator/mailer.ts';
export { isSimulatorLane } from './simulator/script.ts';
export { type SimulatorOptions, startSimulator } from './simulator/server.ts';
export {
  type CapturedMail,
  type CaptureServer,
  type CaptureServerOptions,
  startCaptureServer,
} from './smtp/capture-server.ts';
export { createSmtpTransport, type SmtpTransportOptions } from './smtp/client.ts';
export { type CameBack, type ReturnServer, type ReturnServerOptions, startReturnServer } from './smtp/return-server.ts';
export { textFromHtml } from './text-from-html.ts';
