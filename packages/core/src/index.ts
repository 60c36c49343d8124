export { createContext } from './create-context.ts';
export { type Clock, isoTime, systemClock } from './fields/clock.ts';
export { type IdKind, idFloor, idPrefixes, idTime, isId, newId } from './fields/ids.ts';
export { type AccessScope, accessScopes, isOperator } from './operation/access.ts';
export { advice } from './operation/advice.ts';
export { DEFAULT_BODY_BYTES, SEND_BODY_BYTES } from './operation/body-limits.ts';
export {
  type Actor,
  type ActorContext,
  type Context,
  type Credential,
  type KeyActor,
  type Log,
  type ResponseNotes as AnswerNotes,
  type Services,
  type SystemActor,
  type UserActor,
  type Via,
  viaNames,
} from './operation/context.ts';
export {
  AppError,
  codeOf,
  type ErrorCode,
  type ErrorDetail,
  errorBody,
  errorCodes,
  errorFields,
  type PublicError,
  publicErrorSchema,
  type Reason,
  reasons,
} from './operation/errors.ts';
export { httpStatus } from './operation/http-status.ts';
export { invoke, invokeParsed, type Operation, operation, type Parsed } from './operation/operation.ts';
export { retryAfterHeader, retryAfterSeconds } from './operation/retry-after.ts';
export { factorRefusal } from './operation/scope-refusal.ts';
export { likelyMeant } from './operation/spelling.ts';
export { fieldNames } from './operation/unexpected-names.ts';
export { cursorOf, type List } from './paging/list.ts';
export {
  type Config,
  ConfigError,
  type RoleName,
  readConfig,
  redactConfig,
  roleNames,
  type Transport,
  usualPorts,
} from './process/config.ts';
export { createEncryption, DecryptionError, type Encryption } from './process/encryption.ts';
export { catalogue, type JobData, type JobName, type Jobs } from './process/jobs.ts';
export { limits } from './process/limits.ts';
export {
  type CounterName,
  type HistogramName,
  invariants,
  type MetricName,
  metricCatalogue,
  metricDefinition,
} from './process/metric-catalogue.ts';
export {
  createMetrics,
  type HistogramValue,
  type MetricPoint,
  type MetricReading,
  type Metrics,
} from './process/metrics.ts';
export { listenNear, listenOn } from './process/ports.ts';
export { runAll, runTogether } from './process/run-all.ts';
export { readServerRecord, type ServerRecord } from './process/server-record.ts';
export { silentLog } from './process/silent-log.ts';
export { noSpan, noTracing, readTraceparent, type Span, type Tracing } from './process/tracing.ts';
export { createServices } from './services.ts';
