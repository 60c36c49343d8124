export { type ClientAddress, createClientAddress, peerAddress } from './client-address.ts';
export { type Clock, isoTime, systemClock } from './clock.ts';
export {
  type Config,
  ConfigError,
  type RoleName,
  readConfig,
  redactConfig,
  roleNames,
  type Transport,
  usualPorts,
} from './config.ts';
export {
  type Actor,
  type ActorContext,
  type AnswerNotes,
  type Context,
  type Credential,
  type Face,
  faces,
  type KeyActor,
  type Log,
  type Services,
  type SystemActor,
  type UserActor,
} from './context.ts';
export {
  AppError,
  codeOf,
  type ErrorCode,
  type ErrorDetail,
  errorCodes,
  errorFields,
  httpStatus,
  type PublicError,
  publicErrorSchema,
  type Reason,
  reasons,
} from './errors.ts';
export { type IdKind, idFloor, idPrefixes, idTime, isId, newId } from './ids.ts';
export { catalogue, type JobData, type JobName, type Jobs } from './jobs.ts';
export { cursorOf, type List } from './list.ts';
export { invoke, invokeParsed, type Operation, type Parsed } from './operation.ts';
export { isOperator, type Reach, reaches } from './reach.ts';
export { runAll } from './run-all.ts';
export { createSealing, SealError, type Sealing } from './sealing.ts';
export { createContext, createServices } from './services.ts';
export { silentLog } from './silent-log.ts';
export { likelyMeant } from './spelling.ts';
