import { phrases, type RefusalRule } from './rule.ts';

// Words about the message itself, and about servers that could not decide.

export const contentWords = {
  'content refused': {
    category: 'content',
    text: phrases(
      'message content|content (?:rejected|denied|refused|blocked|filter|policy|restriction)|spam (?:message|content|score|filter|point|level|check|probab|threshold)|scored? (?:[\\d.]+|too)|(?:[\\d.]+ )spam|(?:detected|identified|classified|marked|tagged|looks? like|considered|appears?|likely|rejected|refused|blocked|scored|flagged|reported) (?:to be |as |like |it |probable |possible |being )*(?:spam|junk|unsolicited|uce)|spam (?:detected|rejected|refused|mail|not|is)|(?:is|suspicion of|be|as|probably|possibl[ey]|this) spam\\b|anti-?spam|spam ?signature|- spam\\b|spamassassin|\\buce\\b|\\bube\\b|junk ?mail',
      'content presents|blacklisted (?:url|link)|virus|malware|phish|infected|worm\\b|trojan|size limit|attachments?\\b|executable|blocked (?:url|link|content)|(?:bad|dangerous|forbidden|blocked|disallowed|banned) (?:url|link|file|word|content|extension)|malformed (?!.{0,20}name server)|not rfc ?\\d* ?compliant|message (?:header|body|format|structure|part)s?\\b (?:is|are|contain|was|has|not|reject|invalid)|bare (?:lf|cr)|duplicate header|(?:missing|no|invalid|bad|illegal).{0,20}header|transaction failed: spam|\\[CS01\\]|\\b(?:DT:SPM|MI:SP[A-Z])\\b|\\[HM\\d\\d\\]',
      '(?:message|mail|attachment|file|e-?mail)[^.]{0,40}(?:too (?:large|big)|exceeds?\\b|larger than|over the (?:size|limit)|size)|(?:max(?:imum)?|fixed|allowed|permitted) (?:message|mail|allowed|file|acceptable)? ?size|size (?:of the message |exceed|is too|too|larger|restriction|violat)|too (?:large|big) (?:message|mail|for)|sizelimit|conversion (?:to|of)|unsupported (?:media|charset|encoding)|improper use of 8-?bit|8bit|illegal (?:character|attachment)|blocked by (?:content|spam)|banned (?:name|file)|sandbox|unacceptable (?:content|mail)|objectionable|垃圾邮件|病毒|迷惑メール|ウイルス|サイズ(?:制限|が|を)|спам|вирус',
    ),
  },
} as const satisfies Record<string, RefusalRule>;

export const trafficWords = {
  'mail loops': {
    category: 'network',
    text: /too many hops|hop ?count|mail (?:is )?loop|routing loop|forwarding loop|message (?:is )?looping|loops? back to|(?:loop|looping) detected|maximum forwarding|too many .?received/i,
  },
  // Comes before the mailbox rules, because a server that cannot tell says nothing about the mailbox.
  'cannot tell now': {
    category: 'network',
    text: phrases(
      'temporar(?:y|ily)|try (?:again|your message|it|sending)?(?: again)? ?later|try again|please retry|currently (?:unavailable|unable)|lookup fail(?:ed|ure)|service (?:is )?(?:currently )?(?:not available|unavailable)|(?:verif\\w+|callout)[^.]{0,30}(?:deferred|not complete|timed? ?out)|timed? ?out|system (?:error|busy|is busy)|server (?:busy|error|is busy)|internal (?:server )?error|local error|resources unavailable',
    ),
    for_now: true,
  },
} as const satisfies Record<string, RefusalRule>;

export const unreachedWords = {
  // A mail system gave up without a response about the mailbox.
  'never reached': {
    category: 'network',
    text: phrases(
      'no route to host|network (?:is )?(?:unreachable|error|problem)|connection (?:was |has been )?(?:refused|timed|reset|lost|closed|dropped|failed|failure|aborted|unexpectedly)|could ?n(?:ot|.t) ?(?:be )?(?:connect|establish|reached)|(?:unable|not able|failed) to (?:connect|contact|reach|establish)|host (?:is )?(?:not reachable|unreachable|down|not responding)|lost connection|not respond(?:ing)?\\b|did not (?:respond|accept our requests|answer)|(?:no|didn.t|not) (?:answer|respon[sd])\\w* from',
      'retry time|(?:delivery|queue|envelope|message|lifetime) (?:time )?(?:has |was |is )?expired|too (?:long in|old)|(?:after|for) \\d+ (?:days|hours)|\\d+ attempts|\\bdeferred|not been collected|dns (?:error|lookup|failure|problem)|name server|address family mismatch|tls (?:error|negotiation|handshake)|io error|broken pipe|mail server is down|queue\\.expired|(?:time ?limit|timing out)|delivery (?:attempts|was attempted)',
    ),
  },
} as const satisfies Record<string, RefusalRule>;
