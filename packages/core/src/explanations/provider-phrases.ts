import type { CauseName } from './causes.ts';

export interface ProviderPhrase {
  readonly provider: string;
  readonly text: RegExp;
  readonly cause: CauseName;
  /** Replaces the action of the cause, because the provider has its own form or rule. */
  readonly action?: string;
}

const GOOGLE = 'Check your reputation at https://postmaster.google.com, and send less until it recovers.';
const MICROSOFT = 'Request removal at https://sender.office.com, after you’ve stopped what caused the listing.';
const OUTLOOK =
  'Request removal of the IP address in the response at https://olcsupport.office.com, then resend the email. See why it was blocked at https://sendersupport.olc.protection.outlook.com/snds.';
const YAHOO =
  'Slow down, and send only to people who open your email. Register at https://senders.yahooinc.com to see complaints.';
const APPLE =
  'Follow https://support.apple.com/102322. If your records are right, write to icloudadmin@apple.com with the response.';
const UNITED = 'Open the link in the response: it names the reason, and a form for your IP address.';
const YANDEX = 'Check the domain at https://postmaster.yandex.com, and make sure that people asked for the email.';
const MAILRU =
  'Check the domain at https://postmaster.mail.ru, and write to abuse@corp.mail.ru with the code in the response.';
const TENCENT = 'Open the link in the response: it explains the rule. Send less from one IP address, and set SPF.';
const NETEASE = 'Look up the code after “DT:” or in the link of the response, and send less to this provider.';
const COMCAST = 'Open the link in the response. To request removal, use https://spa.xfinity.com/report.';

/** What the ten largest mailbox providers write in rejections, more specific phrases first. */
export const providerPhrases: readonly ProviderPhrase[] = [
  { provider: 'Gmail', text: /p=NoSuchUser/, cause: 'mailbox_unknown' },
  { provider: 'Gmail', text: /p=DisabledUser/, cause: 'mailbox_disabled' },
  { provider: 'Gmail', text: /p=OverQuota|inbox is out of storage space.*gsmtp/s, cause: 'mailbox_full' },
  {
    provider: 'Gmail',
    text: /receiving mail (?:too quickly|at a rate).*(?:google|gsmtp)|p=ReceivingRate/s,
    cause: 'mailbox_rate',
  },
  {
    provider: 'Gmail',
    text: /unusual rate of unsolicited mail/,
    cause: 'unsolicited',
    action: `${GOOGLE} Postrider keeps retrying this email.`,
  },
  { provider: 'Gmail', text: /very low reputation of the sending/, cause: 'reputation', action: GOOGLE },
  { provider: 'Gmail', text: /likely (?:unsolicited mail|suspicious).*gsmtp/s, cause: 'reputation', action: GOOGLE },
  { provider: 'Gmail', text: /DMARC policy.*gsmtp/s, cause: 'dmarc_failed' },
  {
    provider: 'Gmail',
    text: /sender is unauthenticated.*gsmtp|requires all senders to authenticate/s,
    cause: 'not_authenticated',
  },
  { provider: 'Gmail', text: /PTR record.*gsmtp/s, cause: 'reverse_dns' },
  { provider: 'Gmail', text: /potential security issue|p=BlockedMessage/, cause: 'virus' },
  { provider: 'Gmail', text: /exceeded Google's message size/, cause: 'too_large' },
  { provider: 'Gmail', text: /Too many messages from this sender.*gsmtp/s, cause: 'rate_limited', action: GOOGLE },
  { provider: 'Gmail', text: /group you tried to contact may not exist/, cause: 'list_closed' },
  {
    provider: 'Gmail',
    text: /has a policy that.{0,20}prohibited the mail.*gsmtp/s,
    cause: 'not_permitted',
    action: 'Ask the recipient’s Google Workspace administrator to allow your domain.',
  },
  { provider: 'Outlook', text: /block list \(S3\d{3}\)|\bSC-00\d/, cause: 'ip_blocked', action: OUTLOOK },
  { provider: 'Outlook', text: /\b(?:RP|OU|DY)-00\d\b/, cause: 'rate_limited', action: OUTLOOK },
  { provider: 'Outlook', text: /mailbox unavailable \(S\d+\)/, cause: 'mailbox_unknown' },
  {
    provider: 'Microsoft 365',
    text: /does not meet the required authentication level/,
    cause: 'not_authenticated',
    action:
      'Microsoft requires SPF, DKIM and DMARC of larger senders: verify all records of the sending domain, and add a DMARC record.',
  },
  { provider: 'Microsoft 365', text: /does not pass DMARC verification and has a DMARC policy/, cause: 'dmarc_failed' },
  { provider: 'Microsoft 365', text: /banned sending IP|banned sender/, cause: 'ip_blocked', action: MICROSOFT },
  {
    provider: 'Microsoft 365',
    text: /RESOLVER\.(?:ADR|FWD)\.\w*NotFound|Recipient address rejected: Access denied.{0,20}\[\w+\.\S+ \d{4}-/,
    cause: 'mailbox_unknown',
  },
  { provider: 'Microsoft 365', text: /RESOLVER\.RST\.\w*Size|ROUTING\.SizeLimit/, cause: 'too_large' },
  {
    provider: 'Microsoft 365',
    text: /RESOLVER\.RST\.|Sender not in allowed-senders list/,
    cause: 'known_senders_only',
  },
  { provider: 'Microsoft 365', text: /QuotaExceededException|STOREDRV\..*quota/s, cause: 'mailbox_full' },
  { provider: 'Microsoft 365', text: /Hop count exceeded/, cause: 'routing' },
  { provider: 'Microsoft 365', text: /TenantAttribution/, cause: 'relaying' },
  {
    provider: 'Microsoft 365',
    text: /rate limited due to IP reputation|\(S77\d{3}\)/,
    cause: 'rate_limited',
    action: MICROSOFT,
  },
  { provider: 'Yahoo', text: /doesn't have a (?:yahoo|aol|ymail|rocketmail)\.\S+ account/, cause: 'mailbox_unknown' },
  {
    provider: 'Yahoo',
    text: /mailbox is disabled \(554\.30\)|disabled or discontinued \[#1/,
    cause: 'mailbox_disabled',
  },
  {
    provider: 'Yahoo',
    text: /\[BL\d\d\]/,
    cause: 'ip_blocked',
    action:
      'The response names the block list: request removal there. See https://senders.yahooinc.com/smtp-error-codes.',
  },
  { provider: 'Yahoo', text: /\[TSS?\d\d\]/, cause: 'reputation', action: YAHOO },
  { provider: 'Yahoo', text: /\((?:CON|DYN|HVU|SCP|SNDR|RLY|DNS):\w+\)/, cause: 'ip_blocked', action: YAHOO },
  {
    provider: 'Yahoo',
    text: /Message not accepted for policy reasons.*yahoo/s,
    cause: 'policy_or_records',
  },
  { provider: 'Yahoo', text: /Resources temporarily unavailable.*#4\.16/, cause: 'rate_limited', action: YAHOO },
  { provider: 'iCloud', text: /\[(?:CS|HM)\d\d\] Message rejected due to local policy/, cause: 'spam', action: APPLE },
  { provider: 'iCloud', text: /DMARC policy.*support\.apple/s, cause: 'dmarc_failed' },
  { provider: 'iCloud', text: /support\.apple\.com|\bHT204137\b/, cause: 'reputation', action: APPLE },
  {
    provider: 'GMX and web.de',
    text: /IP address is block listed|postmaster\.(?:gmx|web)\S+c=bl/,
    cause: 'ip_blocked',
    action: UNITED,
  },
  { provider: 'GMX and web.de', text: /SPF policy.*postmaster\.(?:gmx|web|1und1|ionos)/s, cause: 'spf_failed' },
  { provider: 'GMX and web.de', text: /exceeded storage allocation.*postmaster\.(?:gmx|web)/s, cause: 'mailbox_full' },
  {
    provider: 'GMX and web.de',
    text: /rate limit exceeded.*postmaster\.(?:gmx|web)/s,
    cause: 'rate_limited',
    action: UNITED,
  },
  { provider: 'GMX and web.de', text: /mailbox unavailable.*postmaster\.(?:gmx|web)/s, cause: 'mailbox_unknown' },
  { provider: 'GMX and web.de', text: /Nemesis ESMTP Service/, cause: 'server_unavailable', action: UNITED },
  { provider: 'Yandex', text: /under suspicion of SPAM/, cause: 'spam', action: YANDEX },
  { provider: 'Yandex', text: /^No such user!$/, cause: 'mailbox_unknown' },
  { provider: 'Yandex', text: /Mailbox size limit exceeded/, cause: 'mailbox_full' },
  { provider: 'Mail.ru', text: /invalid mailbox.*account is disabled/s, cause: 'mailbox_disabled' },
  { provider: 'Mail.ru', text: /not accepted -- invalid mailbox/, cause: 'mailbox_unknown' },
  { provider: 'Mail.ru', text: /Message was not accepted: mailbox quota/, cause: 'mailbox_full' },
  { provider: 'Mail.ru', text: /help\.mail\.ru\/notspam|spam message rejected/, cause: 'spam', action: MAILRU },
  { provider: 'Mail.ru', text: /ip reputation is too low/, cause: 'reputation', action: MAILRU },
  { provider: 'QQ', text: /(?:Connection|Ip|Sending) frequency limit/i, cause: 'rate_limited', action: TENCENT },
  {
    provider: 'QQ',
    text: /(?:Spam is embedded|Mail content denied|Suspected spam).*qq\.com/s,
    cause: 'spam',
    action: TENCENT,
  },
  { provider: 'QQ', text: /Mailbox not found.*qq\.com/s, cause: 'mailbox_unknown' },
  { provider: 'QQ', text: /Mailbox unavailable or access denied/, cause: 'mailbox_disabled', action: TENCENT },
  { provider: 'NetEase', text: /DT:SPM.*too many/s, cause: 'rate_limited', action: NETEASE },
  { provider: 'NetEase', text: /DT:SPM|help_spam_16/, cause: 'spam', action: NETEASE },
  { provider: 'NetEase', text: /\bMI:(?:CEL|DMC|IMF|IPB|NHD|SFQ|SPB|STC|WMIP)/, cause: 'ip_blocked', action: NETEASE },
  { provider: 'Comcast', text: /Not our Customer/, cause: 'mailbox_unknown' },
  {
    provider: 'Comcast',
    text: /smtp-error-codes\.php#BL|found on one or more DNSBLs/,
    cause: 'ip_blocked',
    action: COMCAST,
  },
  { provider: 'Comcast', text: /smtp-error-codes\.php#RL/, cause: 'rate_limited', action: COMCAST },
];

/** What servers of every make write, for responses whose code says less than their text. */
export const commonPhrases: readonly Omit<ProviderPhrase, 'provider'>[] = [
  { text: /gr[ae]y.?list/i, cause: 'greylisted' },
  { text: /\bDMARC\b/i, cause: 'dmarc_failed' },
  { text: /\bSPF\b|Sender Policy Framework/i, cause: 'spf_failed' },
  { text: /\bDKIM\b/i, cause: 'dkim_failed' },
  { text: /reverse (?:dns|hostname)|\bPTR\b|\brdns\b|[eh][eh]lo command rejected/i, cause: 'reverse_dns' },
  {
    text: /sender verif|sender address rejected|domain of sender|not owned by user|permissions? to send as/i,
    cause: 'sender_address',
  },
  { text: /null MX|does not accept mail/i, cause: 'domain_accepts_none' },
  { text: /must issue a STARTTLS|requires? tls/i, cause: 'tls_required' },
  { text: /virus|malware|trojan/i, cause: 'virus' },
  { text: /too many hops|mail loop|hop count/i, cause: 'routing' },
  {
    text: /message-id|\b(?:from|to|date|subject) header|headers?\b.{0,20}(?:missing|invalid|malformed)/i,
    cause: 'malformed',
  },
  { text: /size (?:limit|exceeds)|databytes|too (?:large|big)/i, cause: 'too_large' },
  { text: /relay/i, cause: 'relaying' },
  {
    text: /unknown (?:user|recipient)|(?:user|recipient) unknown|no such user|no mailbox here|(?:user|mailbox|address) (?:not found|does(?: not|n't) exist)/i,
    cause: 'mailbox_unknown',
  },
  {
    text: /(?:account|mailbox|user|compte)[^.]{0,30}(?:disabled|inactive|suspended|closed|locked|désactivé)/i,
    cause: 'mailbox_disabled',
  },
  { text: /spam|junk/i, cause: 'spam' },
  { text: /blocked|black ?list|block ?list|\brbl\b|dnsbl|spamhaus/i, cause: 'ip_blocked' },
];

/** What Postrider itself records when no server responded. */
export const errorPhrases: readonly Omit<ProviderPhrase, 'provider'>[] = [
  { text: /ENOTFOUND|EAI_AGAIN|DNS lookup failed|mail servers of .* are not known/i, cause: 'dns_failed' },
  { text: /certificate|\bTLS\b|\bSSL\b|MTA-STS|handshake|STARTTLS/i, cause: 'tls_failed' },
  { text: /ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no connection in|timed? ?out/i, cause: 'unreachable' },
  { text: /worker was lost|could not be stored|interrupted/i, cause: 'connection_lost' },
  { text: /ECONNRESET|EPIPE|closed|lost/i, cause: 'server_unavailable' },
];
