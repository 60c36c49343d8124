import { phrases, type RefusalRule } from './rule.ts';

// Words about the sender: the rate, the client's address and reputation, the sender's address and permissions. They
// come before the words about recipients, which these texts quote ("sender address rejected: user unknown").

/** The server will accept the message later. */
export const rateWords = {
  // Google also uses 4.2.1 and 5.2.1 for a live mailbox that receives too much email.
  'gets mail too fast': {
    category: 'throttled',
    text: /receiving mail (?:too quickly|at a rate)|exceeded (?:the|its) (?:rate|hourly|daily).{0,20}limit|recipient.{0,30}rate limit/i,
    for_now: true,
  },
  'asks to slow down': {
    category: 'throttled',
    text: /too many (?:connections|concurrent|messages (?!in|stored)|mails?\b|emails|recipients|sessions|requests|errors from|hits)|rate.?limit|throttl|unusual rate|slow down|connection (?:rate|frequency|limit)|(?:frequency|mail) limit(?:ed)?\b|sending limit|resources temporarily unavailable|excessive (?:volume|rate)|mfe\b.*limit/i,
    for_now: true,
  },
  greylisted: {
    category: 'throttled',
    text: /gr[ae]y.?list|deferred for policy reasons|please try again (?:in|after) \d+ (?:seconds|minutes)|first time sender/i,
    for_now: true,
  },
} as const satisfies Record<string, RefusalRule>;

export const senderWords = {
  'sender is not authenticated': {
    category: 'authentication',
    text: /\bspf\b|\bdkim\b|\bdmarc\b|unauthenticated (?:email|mail|sender)|not authenticated|authentication (?:checks?|requirements|information|required|failed|results)|sender (?:policy framework|id)|reverse dns|\bptr\b|rdns|cannot (?:find|resolve) your (?:host|reverse)|(?:client|your|client host|helo) (?:host ?)?name.{0,30}(?:not found|does not resolve|rejected)|hostname rejected|client host (?:rejected|name)|helo command rejected|\b[eh][eh]lo\b.{0,30}(?:reject|invalid|denied)|(?:forged|fake|spoofed|bad) [eh][eh]lo\b|invalid helo|sender verif|verification failed for|callback|callout verification failed|verify (?:the )?sender/i,
  },
  'sender address refused': {
    category: 'policy',
    text: phrases(
      'sender(?:.s)? (?:address |domain |e-?mail |host |e-?mail address |mail address |id )*(?:is |was |has been )?(?:rejected|refused|denied|unknown|invalid|empty|blocked|blacklisted|not (?:allowed|accepted|verified|exist|found|pre-?approved|permitted))|(?:invalid|unknown|bad|unroutable|unrouteable|forged|spoofed|fake|null|empty|missing|illegal) (?:envelope |mail )?sender',
      'return.?path (?:address|domain|is|does|rejected|invalid|refused)|domain of sender|sender(?:.s)? (?:address |e-?mail )?domain|mail ?from (?:address |domain |command )?(?:rejected|refused|must|is|not|invalid)|(?:from|sender) (?:address )?(?:domain )?(?:does not (?:exist|resolve)|must exist)|valid sender domain|envelope senders?|senderdenied|send as denied',
      'you are not allowed to send|not allowed to (?:send|post)|not (?:owned|permitted) (?:by|to send)|batv|backscatter|returned mail not accepted|null sender|empty envelope|e-?mail address is not verified|does not designate|rfc.?ignorant|mail ?from: ?<>|purported responsible|rule imposed|sender (?:is )?spam',
      'absenderadresse|absender[^.]{0,30}(?:abgelehnt|ungültig)|(?:発信者|送信者|差出人)[^。]{0,20}(?:拒否|不明)|发件人[^。]{0,10}(?:被拒|拒绝|无效)',
    ),
  },
  'listed by a block list': {
    category: 'reputation',
    text: /spamhaus|spamcop|\b[\w-]{0,20}rbls?\b|\b[\w-]{0,20}dnsbls?\b|block ?list|black ?list(?!ed (?:url|link))|deny ?list|\bsbl\b|\bxbl\b|\bpbl\b|barracudacentral|senderbase|senderscore|talos|sorbs|uceprotect|invaluement|abusix|cloudmark|csi\.|trustedsource|\bS3140\b|\bS3150\b|banned sending ip|banned? ?send|mail-abuse|\bordb\b|\bnjabl\b|proofpoint.{0,20}pdr|on our block|ipcheck\./i,
  },
  'distrusts the sender': {
    category: 'reputation',
    text: /(?:poor|bad|low|very low|negative|ip|domain|sender|sending)[ -]reputation|reputation (?:of|is|has|too|score|block)|suspected (?:of )?spam|unsolicited|bulk mail|spam (?:source|detected from)|known spam|(?:ip|client|host|server|sender|sending domain|your (?:ip|domain|address|host|server|network|system))[^.]{0,40}\b(?:is |has been |was |are )?(?:temporarily |currently )?(?:blocked|banned|blacklisted)\b|blocked (?:by|because (?!its content)|due|for|using|from)|unusual (?:sending )?activity|complaints|too much spam|dynamic(?:ally)? (?:assigned )?(?:ip|address)|generic (?:ptr|reverse)|not accepting (?:mail|messages|connections) from (?:your|this) (?:ip|server|host|network)|connections? (?:will )?not (?:be )?accepted from|connection (?:was )?(?:refused|dropped|rejected) (?:by (?:your|our)|due)|\[(?:BL|TSS?|TS)\d\d\]|\((?:CON|RLY|DNS|DYN|HVU|SCP|SNDR):\w+\)|A problem occurred\. \(Ask your postmaster|access from ip address|bad (?:ip|host)|go away|no thanks|you are not welcome/i,
  },
  'relaying denied': {
    category: 'policy',
    text: /relay(?:ing|ed)?(?: access| mail| attempt| from| to| is| operation)*.{0,20}?(?:denied|not (?:permitted|allowed|authori[sz]ed|supported)|prohibited|disallowed|rejected|refused)|(?:unable|not (?:permitted|allowed|authori[sz]ed)|cannot|can't|won't|refus\w+|insecure|no|not an open|denied) (?:to )?(?:mail )?relay|rcpthosts|(?:do not|don't|not) relay|isn't in my list of allowed|do not accept mail for this domain|attempted? (?:to )?relay|open relay|not a gateway|we don't handle mail for|not (?:allowed|authori[sz]ed) to route|(?:smtp )?relay error|mail loops? to|send mail via|authentication is required for relay|pop before smtp|local delivery only/i,
  },
  'accepts only known senders': {
    category: 'policy',
    text: phrases(
      '(?:delivery|access|recipient|posting|group|address|use)[^.]{0,30} restricted|only (?:accepts?|accepting|allow\\w*) (?:mail|messages|e-?mail|posts?)|not (?:authori[sz]ed|permitted) to (?:send|post|submit)|not on the (?:allow|safe)|authentication required for relay|prohibited|administrative(?:ly)? prohibit|delivery not authori[sz]ed|not ?authori[sz]ed|requires? tls|must issue a starttls|restricted (?:to|sms|recipient)',
      '(?:not|n.t) (?:a |an )?(?:list )?(?:member|subscribe[rd])|non-?(?:member|subscriber)|members?[- ]only|only members|closed list|moderat(?:ed|or)|may not have permission|don.t have permission|you do not have permission|permission to (?:post|send)|not open to posting|not (?:member|subscribed)|posting[^.]{0,30}(?:not|denied|rejected)',
      'refused due to recipient preferences|(?:chosen|chose|opted|prefers?) not to (?:receive|accept)|does(?: not|n.t) wish to receive|user (?:reject|refuse)\\w*|(?:blocked|rejected|refused) by (?:the )?(?:recipient(?!.?s? (?:domain|server|mail ?server|e-?mail server))|user|addressee|filter|custom)|recipient (?:has )?(?:refused|declined|blocked|does not want)|(?<!message )filtered|sender is on the recipient|does not (?:accept|want) (?:mail|e-?mail|messages|any)[^.]{0,20} from|not accept(?:ing|ed)? (?:mail|e-?mail|messages) from|user rules|personal (?:block|filter)|protected by',
    ),
  },
} as const satisfies Record<string, RefusalRule>;

/** RFC 3463 section 3.2: 1.7 and 1.8 are about the sender's address, whatever the text says about users and domains. */
export const senderStatus = {
  'status about the sender': { category: 'policy', status: ['1.7', '1.8'] },
} as const satisfies Record<string, RefusalRule>;

/** Remaining policies of the recipient's side; a status with a subject takes precedence over these. */
export const policyWords = {
  'against a policy': {
    category: 'policy',
    text: phrases(
      'policy (?:violation|reasons?|rejection|restriction)|violat\\S+ (?:of )?(?:the |our |a )?(?:local |site |security )?policy|local policy|against policy|security policy|refused by (?:local |site )?policy|access (?:is |was )?denied|administrator (?:has )?(?:blocked|denied)|transport rules?|拒收|受信拒否|拒否されました|отклонен\\S* (?:политик|получател)',
    ),
    unspecific: true,
  },
} as const satisfies Record<string, RefusalRule>;
