import type { RefusalCategory } from '../delivery/index.ts';

export interface Cause {
  /** The category of the rejections with this cause. */
  readonly category: RefusalCategory;
  /** One sentence on what happened, for the sender. */
  readonly meaning: string;
  /** One or two sentences on what the sender can do. */
  readonly action: string;
}

const CHECK_DOMAIN = 'Fix every DNS record of the sending domain that isn’t verified, then resend the email.';

/** What a response can mean, in plain words. */
export const causes = {
  mailbox_unknown: {
    category: 'mailbox',
    meaning: 'The mailbox doesn’t exist.',
    action:
      'Check the address for typos. If it’s correct, remove it from your list: sending to it again will hurt your reputation.',
  },
  address_malformed: {
    category: 'mailbox',
    meaning: 'The receiving server doesn’t accept this address as valid.',
    action: 'Check the address for typos and unusual characters.',
  },
  address_ambiguous: {
    category: 'mailbox',
    meaning: 'The address matches more than one mailbox at the receiving server.',
    action: 'Ask the recipient for their full address.',
  },
  mailbox_moved: {
    category: 'mailbox',
    meaning: 'The recipient has moved and left no forwarding address.',
    action: 'Ask the recipient for their new address, and remove this one.',
  },
  mailbox_disabled: {
    category: 'mailbox',
    meaning: 'The mailbox exists but is disabled or hasn’t been used for a long time.',
    action: 'Stop sending to this address until the recipient confirms that it works again.',
  },
  mailbox_other: {
    category: 'mailbox',
    meaning: 'The receiving server has a problem with this mailbox and doesn’t say which.',
    action: 'Check the address. If it’s correct, ask the recipient’s email administrator.',
  },
  list_failed: {
    category: 'mailbox',
    meaning: 'The address is a mailing list that couldn’t be expanded.',
    action: 'Ask the list’s owner to check its members, or send to the members directly.',
  },
  list_closed: {
    category: 'policy',
    meaning: 'The address is a mailing list or group that doesn’t accept email from you.',
    action: 'Ask the list’s owner to allow your sending address.',
  },
  owner_changed: {
    category: 'policy',
    meaning: 'The mailbox or its domain has a new owner since you last confirmed the address.',
    action: 'Remove the address: the person you meant no longer receives email there.',
  },
  mailbox_full: {
    category: 'quota',
    meaning: 'The recipient’s mailbox is full.',
    action: 'Ask the recipient some other way to free up space, then resend the email.',
  },
  server_full: {
    category: 'network',
    meaning: 'The receiving server has no storage space left.',
    action: 'Wait and resend later. If it lasts for days, tell the recipient’s email administrator.',
  },
  domain_unknown: {
    category: 'domain',
    meaning: 'The domain of the address doesn’t exist or has no mail server.',
    action: 'Check the part after the @ for typos. If it’s correct, remove the address.',
  },
  domain_accepts_none: {
    category: 'domain',
    meaning: 'The domain of the address states in DNS that it accepts no email (null MX).',
    action: 'Check the part after the @ for typos, and remove the address.',
  },
  routing: {
    category: 'network',
    meaning: 'The receiving servers are forwarding the email in a loop, or to a server that doesn’t exist.',
    action: 'Tell the recipient’s email administrator. Resending won’t help until they fix it.',
  },
  sender_address: {
    category: 'policy',
    meaning: 'The receiving server doesn’t accept the sender address.',
    action: `Check that the From address exists and that its domain receives email. ${CHECK_DOMAIN}`,
  },
  not_authenticated: {
    category: 'authentication',
    meaning: 'The email didn’t pass the receiver’s authentication checks (SPF, DKIM or DMARC).',
    action: CHECK_DOMAIN,
  },
  policy_or_records: {
    category: 'authentication',
    meaning: 'The receiver rejected the email because of its DNS records (SPF, DKIM or DMARC) or its content.',
    action:
      'Fix every DNS record of the sending domain that isn’t verified, then resend the email. If all are, review the content.',
  },
  dkim_failed: {
    category: 'authentication',
    meaning: 'The receiver found no valid DKIM signature that it accepts.',
    action: 'Compare the sending domain’s DKIM record with the one that DNS returns, fix it, then resend the email.',
  },
  spf_failed: {
    category: 'authentication',
    meaning: 'SPF failed: DNS doesn’t list your sending IP address for the domain.',
    action:
      'Add the sending server to the domain’s SPF record (the domain’s page shows the value), then resend the email.',
  },
  dmarc_failed: {
    category: 'authentication',
    meaning:
      'The sender domain’s DMARC policy tells receivers to reject this email, because neither SPF nor DKIM matches the From domain.',
    action: CHECK_DOMAIN,
  },
  reverse_dns: {
    category: 'authentication',
    meaning: 'Your sending IP address has no matching reverse DNS name.',
    action:
      'Ask your hosting provider to set the PTR record to your HELO name, and point that name back to the IP address. Instance → Status checks both.',
  },
  login_failed: {
    category: 'authentication',
    meaning: 'The server requires a sign-in, and Postrider’s was missing or rejected.',
    action: 'Check the user name, password and sign-in method of your relay in DELIVERY.',
  },
  tls_required: {
    category: 'policy',
    meaning: 'The receiver requires an encrypted connection, and none could be established.',
    action: 'Ask the recipient’s email administrator to check their certificate and TLS settings.',
  },
  tls_failed: {
    category: 'network',
    meaning: 'The encrypted connection to the receiving server failed.',
    action: 'Usually the receiver’s certificate is expired or doesn’t match its name: tell their email administrator.',
  },
  ip_blocked: {
    category: 'reputation',
    meaning: 'The receiver blocks your sending IP address because of its reputation or a block list.',
    action:
      'Look up the IP address at the block list that the response names, stop what caused the listing, and request removal.',
  },
  unsolicited: {
    category: 'throttled',
    meaning: 'The receiver is limiting email from your IP address, because it suspects that much of it is unsolicited.',
    action:
      'Send less, and only to people who expect the email. Postrider keeps retrying this one, so there’s no need to resend it.',
  },
  reputation: {
    category: 'reputation',
    meaning: 'The receiver doesn’t trust the sender yet, or has received too many complaints about it.',
    action: 'Send less for some days, only to people who expect the email, and raise the volume slowly.',
  },
  spam: {
    category: 'content',
    meaning: 'The receiver’s filter considers the content spam.',
    action: 'Check links, attachments and wording, add a text version, and send only to people who asked for it.',
  },
  virus: {
    category: 'content',
    meaning: 'The receiver’s filter found something dangerous in an attachment or link.',
    action: 'Remove the attachment or link. Send files of this kind as a link to your own site instead.',
  },
  too_large: {
    category: 'content',
    meaning: 'The email is larger than the receiver allows.',
    action:
      'Make the attachments smaller, or send a link to them. If the email is small, the limit is the receiver’s: tell its email administrator.',
  },
  content_unsupported: {
    category: 'content',
    meaning: 'The receiver can’t handle the email’s format, such as non-ASCII addresses or an unusual encoding.',
    action: 'Resend it with plain ASCII addresses and standard attachments.',
  },
  malformed: {
    category: 'content',
    meaning: 'The receiver rejects the email’s headers or structure.',
    action: 'Check custom headers, especially Message-ID and From, and that attachments have a file name and type.',
  },
  rate_limited: {
    category: 'throttled',
    meaning: 'The receiver limits how much email it accepts from you at a time.',
    action:
      'Nothing to do if it’s temporary: Postrider slows down and retries. If it recurs, set a limit for this destination under Delivery → Backlog.',
  },
  mailbox_rate: {
    category: 'throttled',
    meaning: 'This mailbox is receiving more email than its provider allows at a time.',
    action: 'Wait before you send more to this address, and combine emails where you can.',
  },
  greylisted: {
    category: 'throttled',
    meaning: 'The receiver asks new senders to try again later (greylisting).',
    action: 'Nothing to do. Postrider keeps retrying, and an attempt after the receiver’s delay is usually accepted.',
  },
  not_permitted: {
    category: 'policy',
    meaning: 'The receiver’s rules don’t allow this email from you to this recipient.',
    action: 'Read the response for the rule. Ask the recipient to allow your sending domain.',
  },
  known_senders_only: {
    category: 'policy',
    meaning: 'The recipient only accepts email from senders that they allow.',
    action: 'Ask the recipient to add your From address to their allowed senders.',
  },
  relaying: {
    category: 'policy',
    meaning: 'The server doesn’t handle email for this domain (relaying denied).',
    action:
      'Check the part after the @. If it’s correct, the domain’s MX records point to the wrong server: tell its owner.',
  },
  too_many_recipients: {
    category: 'protocol',
    meaning: 'The email has more recipients than the server accepts at a time.',
    action: 'Send it to fewer recipients per email.',
  },
  protocol: {
    category: 'protocol',
    meaning: 'The receiving server didn’t accept an SMTP command.',
    action: 'Read the transcript of the attempt. If it happens with one destination only, tell its administrator.',
  },
  server_unavailable: {
    category: 'network',
    meaning: 'The receiving server isn’t accepting email at the moment.',
    action:
      'Nothing to do if it’s temporary: Postrider retries. If it lasts for days, tell the recipient’s email administrator.',
  },
  unreachable: {
    category: 'network',
    meaning: 'The receiving server couldn’t be reached.',
    action:
      'Check that this machine may connect to port 25. If other destinations work, the receiver is down, and retrying is all you can do.',
  },
  dns_failed: {
    category: 'network',
    meaning: 'The domain’s mail servers couldn’t be looked up in DNS.',
    action: 'Check the part after the @, and the resolver of this machine. Instance → Status checks it.',
  },
  connection_lost: {
    category: 'network',
    meaning: 'The connection ended before the receiver confirmed the email, so it may or may not have arrived.',
    action: 'Ask the recipient before you resend it, if a second copy would matter.',
  },
  expired: {
    category: 'network',
    meaning: 'The receiving side gave up after trying to deliver the email for its full retry time.',
    action: 'Resend it later, or ask the recipient’s email administrator why their server doesn’t accept it.',
  },
  signing_failed: {
    category: 'signing',
    meaning: 'The email couldn’t be signed with the sending domain’s DKIM key, so it wasn’t sent.',
    action: CHECK_DOMAIN,
  },
  content_deleted: {
    category: 'other',
    meaning: 'The email’s content was deleted before it could be sent.',
    action: 'Send the email again.',
  },
  other: {
    category: 'other',
    meaning: 'The receiver gives no reason that Postrider recognizes.',
    action: 'Read the response: it may contain a link or a code. Otherwise ask the recipient’s email administrator.',
  },
} as const satisfies Record<string, Cause>;

export type CauseName = keyof typeof causes;

/** The cast is safe because the keys of a literal object are known. */
export const causeNames = Object.keys(causes) as [CauseName, ...CauseName[]];
