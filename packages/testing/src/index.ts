export { breakingChanges } from './breaking-changes.ts';
export { databaseCertificate, expiredCertificate, mailCertificate, snsCertificate } from './certificates.ts';
export { createTestClock, type TestClock } from './clock.ts';
export { createDatabase, databaseUrl, installTestClock, loadDatabase, type TestDatabase } from './database.ts';
export { bothPairs, testPairs } from './dkim-pairs.ts';
export { dkimSignatures } from './dkim-signatures.ts';
export {
  type Delegations,
  type DnsFailure,
  type DnsZone,
  type RecordType,
  startDnsZone,
  type Zone,
  type ZoneRecords,
} from './dns-zone.ts';
export { type HttpListener, listenHttp } from './listen-http.ts';
export { outgoingMessages } from './outgoing-messages.ts';
export { totpCode } from './people/totp.ts';
export { emptyTables, type PlanWatch, watchPlans } from './plan-watch.ts';
export { complaintReport, deliveryReport } from './returned-mail.ts';
export {
  type ReceivedMessage,
  type SmtpQuestion,
  type SmtpRule,
  type SmtpSink,
  type SmtpSinkOptions,
  type SmtpStage,
  type SmtpVerdict,
  startSmtpSink,
} from './smtp-sink.ts';
export { bringMail, type SmtpVisitor, visitSmtp } from './smtp-visitor.ts';
export {
  type SinkRequest,
  startWebhookSink,
  type WebhookReply as WebhookAnswer,
  type WebhookRule,
  type WebhookSink,
} from './webhook-sink.ts';
export { createWorld, type JobRun, type World } from './world.ts';
