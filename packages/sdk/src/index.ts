export {
  AbortedError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  type ErrorDetail,
  ForbiddenError,
  InternalError,
  InvalidRequestError,
  NotFoundError,
  PostriderError,
  RateLimitedError,
  type Result,
  safe,
  TimeoutError,
  UnauthorizedError,
  UnexpectedAnswerError,
  UnprocessableError,
  WebhookVerificationError,
} from './errors.ts';
export { eventTypes, scopes } from './generated/lists.ts';
export type * from './generated/schemas.ts';
export { ListCall, type Page } from './pages.ts';
export { Postrider, type PostriderOptions } from './postrider.ts';
export type { CallOptions, RepeatableOptions } from './transport.ts';
export { type ReceivedHeaders, type VerifyOptions, verifyWebhook } from './webhook-signature.ts';
