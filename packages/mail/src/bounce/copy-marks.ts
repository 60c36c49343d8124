// These marks separate the text for people from the copy of the returned message, whose words say nothing about the
// failure. Each mark is a whole line or the start of a line, at the left margin unless it is a drawn line.

/** Drawn lines and sentences that announce the copy, as written by the named systems. */
const ANNOUNCEMENTS = [
  // qmail and its descendants, Yahoo
  '-{2,} ?below (?:this|the next) line is a copy',
  // Exim, 1&1, GMX, Mail.ru
  '-{2,} ?this is a copy of (?:the|your) message',
  '-{2,} ?the body of the message is',
  '-{2,} ?the header of the original message',
  '\\|?-{2,} ?message (?:text|header|headers|contents?) follows?',
  // Gmail, Yandex, Notes, IMail, m-FILTER, ActiveHunter, sendmail before version 8
  '[-=_*#|+ ]{2,}(?:begin |start of )?(?:the )?(?:original|returned|undelivered|unsent|failed|rejected|your) (?:e-?mail )?(?:message|mail)(?! (?:was|has|could|to|that))',
  '[-=_*#|+ ]{2,}(?:message )?headers? (?:of|from|follow)',
  '[-=_*#|+ ]{2,}(?:message|mail) (?:headers?|body|source)',
  '[-=_*#|+ ]{2,}forwarded message',
  // DragonFly, IMail, James, GroupWise, X2, Exchange, OpenSMTPD
  '(?:the )?(?:original|returned|undelivered|unsent)(?: e-?mail)? (?:message|mail)(?: headers?| text)? (?:follows|is (?:attached|included|below|following)|below)',
  'message headers? follows?',
  'possibly truncated original message follows',
  'original message headers?:?\\s*$',
  'original message:?\\s*$',
  '(?:below|here) is (?:a copy of )?the (?:original|returned) (?:message|mail)',
  '(?:below is )?a copy of (?:the|your) (?:original |returned )?(?:message|mail)(?: headers?)?(?: is| follows| below|:)',
  'the (?:header|headers|first \\d+ lines|beginning|text|content) of (?:the|your) (?:original )?(?:message|mail)',
  'your (?:original )?(?:message|mail)(?:,? (?:or|including) .{0,40})? (?:follows|is (?:attached|included|returned) below)',
  'the message that caused this notification',
  'message details:?\\s*$',
  'ursprüngliche nachrichten(?:kopfzeilen|kopf)',
  'en-têtes de message d.origine',
  'encabezados del mensaje original',
  '[-=* ]{2,}(?:原始邮件|原邮件|元のメッセージ|オリジナルメッセージ)',
];

/**
 * Lines from the source of the returned message. They count only at the left margin, because an indented source line
 * may quote a few fields above the reason.
 */
const SOURCE = [
  'return-path:',
  'received: ?(?:from|by|\\(|id|with)',
  'delivered-to:',
  'dkim-signature:',
  'content-type: ?(?:message/rfc822|text/rfc822-headers)',
  '>? ?from \\S+@\\S+ +(?:mon|tue|wed|thu|fri|sat|sun) ',
];

const MARK = new RegExp(`^(?:[ \\t]{0,8}(?:${ANNOUNCEMENTS.join('|')})|(?:${SOURCE.join('|')}))`, 'im');

/** Returns the part of a text above the copy of the returned message. */
export function aboveCopy(text: string): string {
  const match = MARK.exec(text);
  return match ? text.slice(0, match.index) : text;
}
