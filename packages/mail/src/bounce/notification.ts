import { cleanRemoteText } from '@postrider/net';
import { type ReportedRecipient, statusIn } from './report-fields.ts';
import type { ReturnedMail } from './returned-kinds.ts';

// Amazon SES reports as JSON through SNS, to which an email address can be subscribed. Other text follows the object.

type Json = Readonly<Record<string, unknown>>;

/** Returns the report in an Amazon SES notification, or null if the text is not a notification. */
export function readNotification(text: string): ReturnedMail | null {
  const notification = objectIn(text);
  const type = notification?.notificationType ?? notification?.eventType;
  if (notification === null || typeof type !== 'string') return null;
  if (type === 'Complaint') {
    const kind = objectOf(notification.complaint).complaintFeedbackType;
    return {
      kind: 'complaint',
      feedback_type: typeof kind === 'string' ? cleanRemoteText(kind).toLowerCase() : 'abuse',
    };
  }
  if (type !== 'Bounce') return { kind: 'other' };
  const { bouncedRecipients } = objectOf(notification.bounce);
  const recipients = Array.isArray(bouncedRecipients) ? bouncedRecipients.slice(0, 100).map(recipientOf) : [];
  return { kind: 'report', recipients, text: '', subject: '', is_delay: false, from_system: true };
}

function recipientOf(entry: unknown): ReportedRecipient {
  const { emailAddress, status, diagnosticCode } = objectOf(entry);
  const diagnostic =
    typeof diagnosticCode === 'string' ? cleanRemoteText(diagnosticCode.replace(/^[\w-]+ *;/, '')) : '';
  return {
    action: 'failed',
    status: typeof status === 'string' ? statusIn(status) : statusIn(diagnostic),
    diagnostic: diagnostic || null,
    addresses: typeof emailAddress === 'string' ? [emailAddress.toLowerCase()] : [],
    sorted_as: null,
  };
}

function objectIn(text: string): Json | null {
  const start = text.trimStart();
  if (!start.startsWith('{') || !/"(?:notificationType|eventType|Message)"/.test(start)) return null;
  const joined = start.slice(0, start.lastIndexOf('}') + 1);
  // Line folding may have split a string.
  const fields = parsed(joined) ?? parsed(joined.replace(/\n/g, ''));
  if (fields === null) return null;
  return typeof fields.Message === 'string' ? parsed(fields.Message) : fields;
}

function parsed(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? objectOf(value) : null;
  } catch {
    return null;
  }
}

function objectOf(value: unknown): Json {
  // The value is an object, but its fields are still unknown.
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
