import type { AppError, ErrorCode, Reason } from '@postrider/core';
import type { Reply } from '@postrider/mail';

const MAX_TEXT_LENGTH = 400;

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

/** Converts an API error to an SMTP reply with the same text on one line. */
export function replyTo(error: AppError): Reply {
  const [code, enhanced] = byReason[error.reason] ?? byCode[error.code];
  return { code, enhanced, text: error.message.replace(/\s+/g, ' ').slice(0, MAX_TEXT_LENGTH) };
}

/** Returns the reply to a rejected login. 421 closes the connection of an address that has used up its window. */
export function refusedLogin(error: AppError): Reply {
  if (error.code === 'rate_limited') return { code: 421, enhanced: '4.7.0', text: error.message };
  return replyTo(error);
}
