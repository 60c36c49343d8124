import type { Reply } from '@postrider/mail';

/** What a refusal is about. Only faults of the address itself lead to suppression. */
export const refusalCategories = [
  'mailbox',
  'domain',
  'quota',
  'policy',
  'reputation',
  'authentication',
  'content',
  'throttled',
  'protocol',
  'network',
  // Not a refusal: it could not be signed, and was not sent.
  'signing',
  'other',
] as const;
export type RefusalCategory = (typeof refusalCategories)[number];

/** A reply of a server, from the session or from a bounce report. */
export type Said = Pick<Reply, 'enhanced' | 'text'> & { readonly code: number | null };

export interface Classification {
  readonly category: RefusalCategory;
  /** A retry will not help. */
  readonly permanent: boolean;
  /** The address should be suppressed. */
  readonly suppress: boolean;
  /** The rule that matched. */
  readonly rule: string;
}

interface Rule {
  readonly category: RefusalCategory;
  /** Subject and detail of the enhanced status code, such as 1.1; an entry ending in a dot matches a whole subject. */
  readonly status?: readonly string[];
  readonly code?: readonly number[];
  readonly text?: RegExp;
  /** A permanent refusal of this kind means that the address is invalid. */
  readonly suppress?: true;
  /** The server says 5xx although a later attempt may succeed. */
  readonly for_now?: true;
}

/**
 * The first rule whose conditions all match decides. Texts come first, because the same codes are used for many things;
 * then the codes by their RFC.
 *
 * Codes: RFC 3463, RFC 5248 and the IANA registry of SMTP enhanced status codes, RFC 5321 section 4.2.3, RFC 7504 (521,
 * 556), RFC 7505 (null MX), RFC 7372 (authentication). Texts: the sender documentation of Google, Microsoft, Yahoo,
 * Apple, Comcast, 1&1, Yandex, Mail.ru, Tencent, NetEase, Proofpoint, Mimecast, Barracuda and Cisco, and the sources of
 * Postfix, Exim, Sendmail and qmail.
 */
const rules = {
  // Exchange's own codes are exact, while its texts also match other rules.
  'not in the directory': { category: 'mailbox', text: /RESOLVER\.ADR\.\w*NotFound/i, suppress: true },
  'group takes known senders only': { category: 'policy', text: /RESOLVER\.RST\./i },
  // Google also uses 4.2.1 and 5.2.1 for a live mailbox that gets too much mail.
  'gets mail too fast': {
    category: 'throttled',
    text: /receiving mail (?:too quickly|at a rate)|exceeded (?:the|its) (?:rate|hourly|daily).{0,20}limit|recipient.{0,30}rate limit/i,
    for_now: true,
  },
  'asks to slow down': {
    category: 'throttled',
    text: /too many (?:connections|concurrent|messages|mails?\b|emails|recipients|sessions|requests|errors from)|rate.?limit|throttl|unusual rate|slow down|connection (?:rate|frequency|limit)|(?:frequency|mail) limit(?:ed)?\b|sending limit|resources temporarily unavailable|excessive (?:volume|rate)|mfe\b.*limit/i,
    for_now: true,
  },
  greylisted: {
    category: 'throttled',
    text: /gr[ae]y.?list|deferred for policy reasons|please try again (?:in|after) \d+ (?:seconds|minutes)|first time sender/i,
    for_now: true,
  },
  // Before the mailbox rules: some servers send "full" and "quota" texts with 5.2.1, 5.1.1 or 5.7.1.
  'mailbox is full': {
    category: 'quota',
    text: /(?:mail ?box|mbox|inbox|account|user|recipient|maildir|storage|disk)[^.]{0,60}(?:\bis |has |are )?(?:\bfull\b|over ?quota|exceed\w*[^.]{0,30}(?:quota|storage|limit|space|size)|out of (?:storage|space))|over ?quota|quota (?:is )?exceeded|exceeded (?:the |its |his |storage )*quota|insufficient (?:disk|storage|system storage)|no space left|not enough (?:storage|space)|mailbox size limit|\bvoll\b.{0,20}postfach|postfach.{0,20}\bvoll\b/i,
  },
  'listed by a block list': {
    category: 'reputation',
    text: /spamhaus|spamcop|\b[\w-]{0,20}rbls?\b|\b[\w-]{0,20}dnsbls?\b|block ?list|black ?list|deny ?list|\bsbl\b|\bxbl\b|\bpbl\b|barracudacentral|senderbase|senderscore|talos|sorbs|uceprotect|invaluement|abusix|cloudmark|csi\.|trustedsource|\bS3140\b|\bS3150\b|banned sending ip|banned? ?send/i,
  },
  'sender is not authenticated': {
    category: 'authentication',
    text: /\bspf\b|\bdkim\b|\bdmarc\b|unauthenticated (?:email|mail|sender)|not authenticated|authentication (?:checks?|requirements|information|required|failed|results)|sender (?:policy framework|verify failed|id)|reverse dns|\bptr\b|rdns|cannot (?:find|resolve) your (?:host|reverse)|hostname.{0,30}(?:not found|does not resolve|rejected)|helo command rejected|sender verification failed/i,
  },
  'distrusts the sender': {
    category: 'reputation',
    text: /(?:poor|bad|low|very low|negative|ip|domain|sender|sending)[ -]reputation|reputation (?:of|is|has|too|score|block)|suspected (?:of )?spam|unsolicited|bulk mail|spam (?:source|detected from)|known spam|(?:ip|address|host|server|domain|sender)[^.]{0,40}\b(?:is |has been |was |are )?(?:temporarily |currently )?(?:blocked|banned)\b|blocked (?:by|because (?!its content)|due|for|using|from)|unusual (?:sending )?activity|complaints|too much spam|dynamic(?:ally)? (?:assigned )?(?:ip|address)|generic (?:ptr|reverse)|not accepting (?:mail|messages|connections) from (?:your|this) (?:ip|server|host|network)|connections? (?:will )?not (?:be )?accepted from|\[(?:BL|TSS?|TS)\d\d\]|\((?:CON|RLY|DNS|DYN|HVU|SCP|SNDR):\w+\)|A problem occurred\. \(Ask your postmaster/i,
  },
  'sender address refused': {
    category: 'policy',
    text: /sender (?:address |domain |email )?(?:rejected|refused|denied|unknown|invalid|not (?:allowed|accepted|verified))|(?:invalid|unknown|bad) sender|return.?path|domain of sender|mail ?from (?:address )?(?:rejected|refused|must)|you are not allowed to send|not allowed to send|send as denied|senderdenied|envelope sender/i,
  },
  'relaying denied': {
    category: 'policy',
    text: /relay(?:ing)?(?: access)? (?:denied|not (?:permitted|allowed)|prohibited|disallowed)|unable to relay|not permitted to relay|relay not permitted|rcpthosts|we do not relay|isn't in my list of allowed|do not accept mail for this domain|attempted? (?:to )?relay/i,
  },
  'content refused': {
    category: 'content',
    text: /message content|content (?:rejected|denied|refused|blocked|filter)|spam (?:message|content|score|filter)|(?:detected|identified|classified|marked|looks? like|considered|appears?|likely|rejected|refused|blocked|scored) (?:to be |as |like |it )*(?:spam|junk|unsolicited)|spam (?:detected|rejected)|(?:is|suspicion of) spam\b|spam is|content presents|virus|malware|phish|infected|(?:message|mail|attachment|file)[^.]{0,40}(?:too (?:large|big)|exceeds|size)|size limit|attachment|executable|blocked (?:url|link|content)|(?:bad|dangerous|forbidden) (?:url|link|file)|malformed|not RFC ?\d* ?compliant|message (?:header|body|format)|bare (?:lf|cr)|duplicate header|missing.{0,20}header|transaction failed: spam|\[CS01\]|\[HM\d\d\]/i,
  },
  // In a greeting, 521 may also reject one client only.
  'host takes no mail': { category: 'domain', code: [521] },
  'accepts only known senders': {
    category: 'policy',
    text: /restricted|only accepts? (?:mail|messages) from|not authorized to send|not on the (?:allow|safe)|authentication required for relay|does not (?:accept|want)|prohibited|administrative(?:ly)? prohibit|delivery not authorized|requires? tls|must issue a starttls/i,
  },
  // Before the mailbox rules: a server that cannot tell says nothing about the mailbox.
  'cannot tell now': {
    category: 'network',
    text: /temporar(?:y|ily)|try (?:again|your message) later|please retry|try later|currently (?:unavailable|unable)|lookup fail(?:ed|ure)|service (?:is )?(?:not available|unavailable)|(?:verif\w+|callout)[^.]{0,30}(?:deferred|not complete|timed? ?out)|timed? ?out|system (?:error|busy|is busy)|server (?:busy|error|is busy)|internal (?:server )?error|local error|resources unavailable/i,
    for_now: true,
  },
  'domain takes no mail': {
    category: 'domain',
    status: ['1.10'],
    suppress: true,
  },
  'domain takes no mail by its code': { category: 'domain', code: [556], suppress: true },
  'domain does not exist': {
    category: 'domain',
    text: /(?:host|domain)[^.]{0,30}(?:not found|does(?: not|n't) exist|unknown|unrouteable)|(?:host|domain) (?:name )?(?:lookup failed|not found)|no such (?:domain|host)|unrouteable (?:mail )?domain|all relevant mx records point to non-existent|null ?mx|no mx|couldn't find any host|unknown (?:host|domain)|nxdomain|name or service not known|domain.{0,20}(?:expired|invalid)/i,
    suppress: true,
  },
  // 5.7.x is about permission, whatever the text says.
  'security or policy status': { category: 'policy', status: ['7.1', '7.0', '7.13', '7.17', '7.18'] },
  'security status of authentication': {
    category: 'authentication',
    status: [
      '7.20',
      '7.21',
      '7.22',
      '7.23',
      '7.24',
      '7.25',
      '7.26',
      '7.27',
      '7.29',
      '7.30',
      '7.8',
      '7.9',
      '7.11',
      '7.12',
    ],
  },
  'security status of reputation': { category: 'reputation', status: ['7.606', '7.511', '7.507', '7.708', '7.705'] },
  'any other security status': { category: 'policy', status: ['7.'] },
  'mailbox does not exist': {
    category: 'mailbox',
    text: /(?:user|mail ?box|account|recipient|address|alias|mail ?address|mail ?account|addressee|destination|e-?mail|member|postfach|empf\S+nger|local.?part|inbox)s?\b[^.;]{0,70}?(?:unknown|not (?:be )?(?:found|exist|known|listed|valid|available|registered|recognized|hosted|a valid)|does(?: not|n't|nt) (?:have|exist)|do(?:es)? not exist|doesn't exist|no longer|invalid|unavailable|nonexist|non-exist|inexistent|not? existing|isn't valid|undeliverable|unrouteable|not active|existiert nicht|unbekannt|nicht (?:gefunden|bekannt|vorhanden))|(?:no such|unknown|invalid|non-?existent|nonexisting|bad|undeliverable|unrouteable|unroutable|incorrect|wrong) (?:local )?(?:user|mailbox|recipient|account|address|person|destination|addressee|email|local.?part|member|virtual|alias|rcpt)|there is no (?:user|one|account|mailbox|such)|no (?:mailbox|account|user|recipient|one|valid recipients?) (?:here|found|by that name|with that name|at this|for)|not our customer|who are you looking for|not a (?:valid|known|registered) (?:user|mailbox|recipient|address)|is not a (?:valid|known)|does(?: not|n't) have an? \S+ account|addr?ess?(?:ee)? (?:is )?unknown|recipientnotfound|\[#5?\.?1\.1\]|user_unknown|mailbox_not_found|no such user|sorry, no mailbox|can't find (?:user|recipient|mailbox)|invalid mailbox|unknown_user|verify address failed|has moved|left the (?:company|organi[sz]ation)/i,
    suppress: true,
  },
  'mailbox is disabled': {
    category: 'mailbox',
    text: /(?:mail ?box|account|user|recipient|address|customer|postfach)\b[^.;]{0,60}(?:\bis |has been |was |temporarily |currently )*\b(?:disabled|inactive|suspended|deactivated|closed|discontinued|locked|blocked|deleted|terminated|expired|removed|canceled|cancelled|frozen|dormant|gesperrt|deaktiviert)|(?:disabled|inactive|suspended|deactivated|closed|deleted|expired|blocked) (?:mail ?box|account|user|recipient)/i,
    suppress: true,
  },
  // Exchange Online's edge sends this for an address missing in the tenant's directory.
  'not in the directory of the edge': {
    category: 'mailbox',
    status: ['4.1'],
    text: /recipient address rejected: access denied/i,
    suppress: true,
  },
  'mailbox status of the book': { category: 'mailbox', status: ['1.0', '1.1', '1.3', '1.6', '2.1'], suppress: true },
  'domain status of the book': { category: 'domain', status: ['1.2'], suppress: true },
  // 1.7 and 1.8 are about the sender's address; 1.4 and 1.9 are ambiguous or unused for mail.
  'sender status of the book': { category: 'policy', status: ['1.7', '1.8'] },
  'any other address status': { category: 'mailbox', status: ['1.'] },
  'quota status of the book': { category: 'quota', status: ['2.2'] },
  'size status of the book': { category: 'content', status: ['2.3', '3.4'] },
  'any other mailbox status': { category: 'mailbox', status: ['2.'] },
  'system status': { category: 'network', status: ['3.', '4.'] },
  'protocol status': { category: 'protocol', status: ['5.'] },
  'content status': { category: 'content', status: ['6.'] },
  'over quota by its code': { category: 'quota', code: [452, 552] },
  'login refused by its code': { category: 'authentication', code: [530, 534, 535, 538] },
  'protocol by its code': { category: 'protocol', code: [500, 501, 502, 503, 504, 555] },
  'service by its code': { category: 'network', code: [421, 450, 451, 441, 442, 447] },
  'nothing known': { category: 'other' },
} as const satisfies Record<string, Rule>;

// An address in a text is the recipient's or the sender's, and must not match a rule by its words.
const ADDRESSES = /<[^<>\s]*@[^<>\s]*>|[^\s<>()":;,]+@[^\s<>()":;,]+/g;
const table: readonly (readonly [string, Rule])[] = Object.entries(rules);

/** Classifies a refusal. Only a permanent one about the address itself suppresses it. */
export function classify(said: Said): Classification {
  const text = said.text.replace(ADDRESSES, ' ');
  const status = /^[245]\.(\d{1,3}\.\d{1,3})$/.exec(said.enhanced ?? '')?.[1] ?? null;
  const found = table.find(([, rule]) => fits(rule, said.code, status, text));
  // The last rule matches everything.
  if (!found) throw new Error('no rule matches a refusal');
  const [name, rule] = found;
  const permanent = isPermanent(said) && !rule.for_now;
  return { category: rule.category, permanent, suppress: permanent && rule.suppress === true, rule: name };
}

function fits(rule: Rule, code: number | null, status: string | null, text: string): boolean {
  if (rule.status && !rule.status.some((entry) => (entry.endsWith('.') ? status?.startsWith(entry) : status === entry)))
    return false;
  if (rule.code && !rule.code.some((one) => one === code)) return false;
  return rule.text === undefined || rule.text.test(text);
}

/** The reply code decides; for a report without one, the class of its status. */
function isPermanent({ code, enhanced }: Said): boolean {
  return code === null ? enhanced?.startsWith('5') === true : code >= 500;
}
