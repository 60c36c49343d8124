import type { Reply } from '../outcome/reply.ts';

// RFC 3463 section 3 and the IANA registry of enhanced status codes, worded like a server's replies.
const meanings: Readonly<Record<string, string>> = {
  '5.1.1': 'the mailbox does not exist',
  '5.1.2': 'the domain does not exist',
  '5.1.3': 'the address is not valid',
  '5.1.6': 'the mailbox has moved',
  '5.1.10': 'the domain does not accept email',
  '5.2.1': 'the mailbox is disabled',
  '5.2.2': 'the mailbox is full',
  '5.2.3': 'the message is too large for the mailbox',
  '5.3.4': 'the message is too large',
  '5.6.0': 'the content was rejected',
  '5.7.1': 'rejected by policy',
  '5.7.26': 'the sender is not authenticated',
};

// The reply codes that servers send with these statuses; RFC 7505 section 4.1 defines 556.
const codes: Readonly<Record<string, number>> = {
  '5.1.10': 556,
  '5.2.2': 552,
  '5.2.3': 552,
  '5.3.4': 552,
  '5.6.0': 554,
};

/** Returns a server's permanent rejection with an enhanced status code. */
export function refusalFor(status: string): Reply {
  return { code: codes[status] ?? 550, enhanced: status, text: `simulated: ${meanings[status] ?? 'refused'}` };
}
