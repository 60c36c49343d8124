import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Unix mail transfer agents, in the wording of their sources.

const postfix_headers =
  'From: MAILER-DAEMON@mx.example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\nAuto-Submitted: auto-replied';
const postfixText = (reason: string) => `This is the mail system at host mx.example.net.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster.

If you do so, please include this problem report. You can
delete your own text from the attached returned message.

                   The mail system

${reason}`;
const exim =
  'From: Mail Delivery System <Mailer-Daemon@mx.example.net>\nSubject: Mail delivery failed: returning message to sender\nAuto-Submitted: auto-replied\nX-Failed-Recipients: ada@example.net';
const eximText = (reason: string) => `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ada@example.net
    ${reason}

------ This is a copy of the message, including all the headers. ------

${COPY}`;
const sendmail =
  'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail: see transcript for details\nAuto-Submitted: auto-generated (failure)';
const sendmailText = (transcript: string) => `The original message was received at Thu, 31 Jan 2030 09:00:00 GMT
from mail.example.org [192.0.2.1]

   ----- The following addresses had permanent fatal errors -----
<ada@example.net>

   ----- Transcript of session follows -----
${transcript}`;
const qmail = 'From: MAILER-DAEMON@mx.example.net\nSubject: failure notice';
const qmailText = (reason: string) => `Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<ada@example.net>:
${reason}

--- Below this line is a copy of the message.

${COPY}`;
const dragonfly = 'From: MAILER-DAEMON <>\nSubject: Mail delivery failed\nX-Original-To: <b+0@example.org>';
const dragonflyText = (reason: string) => `This is the DragonFly Mail Agent v0.13 at mx.example.net.

There was an error delivering your mail to <ada@example.net>.

${reason}

Message headers follow.

${COPY}`;
const opensmtpd = 'From: Mailer Daemon <MAILER-DAEMON@mx.example.net>\nSubject: Delivery status notification: error';
const opensmtpdText = (reason: string) => `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ada@example.net: ${reason}

    Below is a copy of the original message:
`;
const courier =
  'From: "Courier mail server at mx.example.net" <postmaster@mx.example.net>\nSubject: NOTICE: mail delivery status.';
const courierText = (reason: string) => `This is a delivery status notification from mx.example.net,
running the Courier mail server, version 0.65.2.

The original message was received on Thu, 31 Jan 2030 09:00:00 +0000
from mail.example.org (mail.example.org [192.0.2.1])

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<ada@example.net>:
${reason}

---------------------------------------------------------------------------

If your message was also sent to additional recipients, their delivery
status is not included in this report.`;

export const unixServers = [
  ...family(
    'Postfix',
    [
      'hard mailbox suppress',
      'an unknown user',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: host mx2.example.net[192.0.2.9] said: 550 5.1.1\n    <ada@example.net>: Recipient address rejected: User unknown in virtual mailbox\n    table (in reply to RCPT TO command)',
        ),
        fields(
          '5.1.1',
          'smtp; 550 5.1.1 <ada@example.net>: Recipient address rejected:\n    User unknown in virtual mailbox table',
        ),
      ),
    ],
    [
      'soft quota',
      'a full mailbox of its own',
      dsn(
        postfix_headers,
        postfixText(
          "<ada@example.net>: maildir delivery failed: Sorry, the user's maildir has\n    overdrawn his diskspace quota, please try again later.",
        ),
        fields(
          '5.2.2',
          "x-postfix; maildir delivery failed: Sorry, the user's maildir has overdrawn his diskspace quota, please try again later.",
        ),
      ),
    ],
    [
      'hard domain',
      'a domain without a name',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: Host or domain name not found. Name service error for\n    name=example.net type=A: Host not found',
        ),
        fields(
          '5.4.4',
          'X-Postfix; Host or domain name not found. Name service\n    error for name=example.net type=A: Host not found',
        ),
      ),
    ],
    [
      'soft network',
      'a domain that could not be looked up',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: Host or domain name not found. Name service error for\n    name=example.net type=MX: Host not found, try again',
        ),
        fields(
          '4.4.3',
          'X-Postfix; Host or domain name not found. Name service error for name=example.net type=MX: Host not found, try again',
        ),
      ),
    ],
    [
      'soft content',
      'spam, after the end of DATA',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: host mx2.example.net[192.0.2.9] said: 550 This message scored\n    12.3 spam points. (in reply to end of DATA command)',
        ),
        fields('5.0.0', 'smtp; 550 This message scored 12.3 spam points.'),
      ),
    ],
    [
      'hard mailbox suppress',
      'a bare refusal of the address',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: host mx2.example.net[192.0.2.9] said: 550 Recipient address\n    rejected. (in reply to RCPT TO command)',
        ),
        fields('5.0.0', 'smtp; 550 Recipient address rejected.'),
      ),
    ],
    [
      'hard domain',
      'a host without mail',
      dsn(
        postfix_headers,
        postfixText('<ada@example.net>: Domain example.net does not accept mail (nullMX)'),
        fields('5.7.27', 'X-Postfix; Host does not accept mail'),
      ),
    ],
    [
      'soft policy',
      'an answer about the sender',
      dsn(
        postfix_headers,
        postfixText(
          '<ada@example.net>: host mx2.example.net said: 553 5.1.7 <hello@example.org>: No such domain (in reply to RCPT TO command)',
        ),
        fields('5.1.7', 'smtp; 553 5.1.7 <hello@example.org>: No such domain'),
      ),
    ],
    [
      'delay',
      'still being retried',
      dsn(
        postfix_headers.replace('Undelivered Mail Returned to Sender', 'Delayed Mail (still being retried)'),
        'This is the mail system at host mx.example.net.\n\n####################################################################\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####################################################################\n\nYour message could not be delivered for more than 4 hour(s).\nIt will be retried until it is 5 day(s) old.',
        fields('4.4.1', 'X-Postfix; connect to mx2.example.net[192.0.2.9]:25: Connection timed out', 'delayed'),
      ),
    ],
    [
      'ignored',
      'relayed to a server without reports',
      dsn(
        postfix_headers.replace('Undelivered Mail Returned to Sender', 'Successful Mail Delivery Report'),
        'This is the mail system at host mx.example.net.\n\nYour message was successfully delivered to the destination(s)\nlisted below. If the message was delivered to mailbox you will\nreceive no further notifications.',
        fields('2.0.0', 'smtp; 250 2.0.0 Ok: queued as 4AbC', 'relayed'),
      ),
    ],
    [
      'ignored',
      'two groups, ours relayed',
      dsn(
        postfix_headers,
        postfixText('<other@example.net>: user unknown'),
        `${fields('5.1.1', 'smtp; 550 5.1.1 User unknown', 'failed', 'other@example.net')}\n\nFinal-Recipient: rfc822; ada@example.net\nAction: relayed\nStatus: 2.0.0`,
      ),
    ],
    [
      'soft quota',
      'two groups, ours the second',
      dsn(
        postfix_headers,
        postfixText('<other@example.net>: user unknown\n\n<ada@example.net>: mailbox full'),
        `${fields('5.1.1', 'smtp; 550 5.1.1 User unknown', 'failed', 'other@example.net')}\n\nFinal-Recipient: rfc822; ada@example.net\nOriginal-Recipient: rfc822;ada@example.net\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 Mailbox full`,
      ),
    ],
    [
      'hard mailbox suppress',
      'its own text form',
      plain(
        postfix_headers,
        `This is the Postfix program at host mx.example.net.

I'm sorry to have to inform you that the message returned
below could not be delivered to one or more destinations.

For further assistance, please send mail to <postmaster>

If you do so, please include this problem report. You can
delete your own text from the message returned below.

\t\t\tThe Postfix program

<ada@example.net>: unknown user: "ada"

${COPY}`,
      ),
    ],
    [
      'soft network',
      'its own text form, delivery report unavailable',
      plain(
        postfix_headers,
        `This is the Postfix program at host mx.example.net.

I'm sorry to have to inform you that your message could not be
be delivered to one or more recipients. It's attached below.

\t\t\tThe Postfix program

<ada@example.net>: Delivery report unavailable. Connection timed out

${COPY}`,
      ),
    ],
  ),
  ...family(
    'Exim',
    [
      'hard mailbox suppress',
      'a reply to RCPT',
      plain(
        exim,
        eximText(
          'host mx2.example.net [192.0.2.9]\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    550 5.1.1 <ada@example.net>... User unknown',
        ),
      ),
    ],
    ['soft quota', 'its own words of a full mailbox', plain(exim, eximText('mailbox is full: retry timeout exceeded'))],
    [
      'soft quota',
      'its own words of a quota',
      plain(
        exim,
        eximText(
          '(generated from ada@example.com)\n    mailbox is full (MTA-imposed quota exceeded while writing to file /home/ada/Maildir/tmp)',
        ),
      ),
    ],
    ['hard mailbox suppress', 'an unrouteable address', plain(exim, eximText('Unrouteable address'))],
    [
      'hard domain',
      'an unrouteable domain',
      plain(exim, eximText('all relevant MX records point to non-existent hosts')),
    ],
    ['hard domain', 'an unrouteable mail domain', plain(exim, eximText('unrouteable mail domain "example.net"'))],
    [
      'soft network',
      'a time-out',
      plain(exim, eximText('host mx2.example.net [192.0.2.9]\n    Connection timed out: retry timeout exceeded')),
    ],
    [
      'soft content',
      'spam after the end of data',
      plain(
        exim,
        eximText(
          'SMTP error from remote mail server after end of data:\n    host mx2.example.net [192.0.2.9]: 550 user unknown or message classified as spam',
        ),
      ),
    ],
    [
      'soft mailbox',
      'words of an unknown user after the end of data',
      plain(
        exim,
        eximText(
          'SMTP error from remote mail server after end of data:\n    host mx2.example.net [192.0.2.9]: 550 No such user here',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'a report whose reason is in the text only',
      dsn(exim, eximText('No such person at this address'), fields('5.0.0')),
    ],
    [
      'soft network',
      'a report of a retry time',
      dsn(exim, eximText('retry time not reached for any host after a long failure period'), fields('5.0.0')),
    ],
    [
      'delay',
      'a warning',
      plain(
        exim
          .replace('X-Failed-Recipients: ada@example.net', 'Precedence: bulk')
          .replace(
            'Mail delivery failed: returning message to sender',
            'Warning: message 1aBcDe-0001-Aa delayed 24 hours',
          ),
        `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.example.net.

The message identifier is:     1aBcDe-0001-Aa
The subject of the message is: Hello

The address to which the message has not yet been delivered is:

  ada@example.net
    host mx2.example.net [192.0.2.9]
    Delay reason: 450 mailbox unavailable

No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals if the message
remains undelivered.`,
      ),
    ],
    [
      'hard mailbox suppress',
      'many failed, ours among them',
      plain(
        exim.replace('ada@example.net', 'bob@example.net, ada@example.net'),
        `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  bob@example.net
    mailbox is full
  ada@example.net
    host mx2.example.net [192.0.2.9]: 550 unknown user

------ This is a copy of the message, including all the headers. ------
`,
      ),
    ],
  ),
  ...family(
    'sendmail',
    [
      'hard mailbox suppress',
      'version 8',
      dsn(
        sendmail,
        sendmailText(
          '... while talking to mx2.example.net.:\n>>> DATA\n<<< 550 5.1.1 <ada@example.net>... User unknown\n550 5.1.1 <ada@example.net>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)',
        ),
        fields('5.1.1', 'SMTP; 550 5.1.1 <ada@example.net>... User unknown'),
      ),
    ],
    [
      'hard domain',
      'an unknown host',
      dsn(
        sendmail,
        sendmailText('550 5.1.2 <ada@example.net>... Host unknown (Name server: example.net: host not found)'),
        fields('5.1.2'),
      ),
    ],
    [
      'hard mailbox suppress',
      'version 8 without MIME',
      plain(
        sendmail.replace('see transcript for details', 'User unknown'),
        `${sendmailText('... while talking to mx2.example.net:\n>>> RCPT To:<ada@example.net>\n<<< 550 <ada@example.net>, User Unknown\n550 <ada@example.net>... User unknown')}\n\n   ----- Original message follows -----\n\n${COPY}`,
      ),
    ],
    [
      'hard mailbox suppress',
      'groups without Action',
      dsn(sendmail, sendmailText('<<< 550 unknown'), fields('5.1.1').replace('Action: failed\n', '')),
    ],
    [
      'hard mailbox suppress',
      'a boundary behind a blank',
      dsn(sendmail, sendmailText('550 5.1.1 <ada@example.net>... User unknown'), fields('5.1.1')).replaceAll(
        '\n--=_part',
        '\n --=_part',
      ),
    ],
    [
      'delay',
      'a warning',
      dsn(
        sendmail
          .replace('Returned mail: see transcript for details', 'Warning: could not send message for past 4 hours')
          .replace('(failure)', '(warning-timeout)'),
        `    **********************************************
    **      THIS IS A WARNING MESSAGE ONLY      **
    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **
    **********************************************

   ----- Transcript of session follows -----
<ada@example.net>... Deferred: Connection timed out with mx2.example.net.
Warning: message still undelivered after 4 hours
Will keep trying until message is 5 days old`,
        fields('4.4.1', '', 'delayed'),
      ),
    ],
    [
      'soft network',
      'given up after five days',
      dsn(
        sendmail.replace('see transcript for details', 'Cannot send message for 5 days'),
        sendmailText(
          '<ada@example.net>... Deferred: Connection refused by mx2.example.net.\nMessage could not be delivered for 5 days\nMessage will be deleted from queue',
        ),
        fields('4.4.7'),
      ),
    ],
    [
      'ignored',
      'a receipt',
      dsn(
        sendmail
          .replace('Returned mail: see transcript for details', 'Return receipt')
          .replace('(failure)', '(return-receipt)'),
        '   ----- The following addresses had successful delivery notifications -----\n<ada@example.net>  (successfully delivered to mailbox)',
        fields('2.1.5', '', 'delivered'),
      ),
    ],
  ),
  ...family(
    'sendmail 5',
    [
      'hard mailbox suppress',
      'a transcript',
      plain(
        'From: Mail Delivery Subsystem <MAILER-DAEMON>\nSubject: Returned mail: User unknown',
        `   ----- Transcript of session follows -----
While talking to mx2.example.net:
>>> RCPT To:<ada@example.net>
<<< 550 <ada@example.net>... User Unknown
550 <ada@example.net>... User unknown

   ----- Unsent message follows -----
${COPY}`,
      ),
    ],
    [
      'hard domain',
      'an unknown host',
      plain(
        'From: MAILER-DAEMON@mx.example.net (Mail Delivery Subsystem)\nSubject: Returned mail: Host unknown',
        `   ----- Transcript of session follows -----
550 example.net (TCP)... 550 Host unknown
554 <ada@example.net>... 550 Host unknown (Authoritative answer from name server)

   ----- Unsent message follows -----
${COPY}`,
      ),
    ],
    [
      'soft network',
      'given up',
      plain(
        'From: MAILER-DAEMON@mx.example.net (Mail Delivery Subsystem)\nSubject: Returned mail: Cannot send message for 3 days',
        `   ----- Transcript of session follows -----
421 example.net (tcp)... Deferred: Connection timed out during user open with example.net

   ----- Unsent message follows -----
${COPY}`,
      ),
    ],
    [
      'soft policy',
      'a full transcript of a refused relay',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Returned mail: Service unavailable',
        `   ----- Transcript of session follows -----
While talking to mx2.example.net:
>>> RCPT To:<ada@example.net>
<<< 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)
554 <ada@example.net>... Service unavailable

   ----- Unsent message follows -----
${COPY}`,
      ),
    ],
  ),
  ...family(
    'qmail',
    [
      'hard mailbox suppress',
      'its own words',
      plain(qmail, qmailText('Sorry, no mailbox here by that name. (#5.1.1)')),
    ],
    [
      'hard mailbox suppress',
      "a server's",
      plain(
        qmail,
        qmailText(
          '192.0.2.9 does not like recipient.\nRemote host said: 550 5.1.1 <ada@example.net>... User Unknown\nGiving up on 192.0.2.9.',
        ),
      ),
    ],
    ['soft quota', 'a vpopmail quota', plain(qmail, qmailText('user is over quota'))],
    ['hard domain', 'no host', plain(qmail, qmailText("Sorry, I couldn't find any host named example.net. (#5.1.2)"))],
    [
      'hard domain',
      'no mail exchanger',
      plain(qmail, qmailText("Sorry, I couldn't find a mail exchanger or IP address. (#5.4.4)")),
    ],
    [
      'soft network',
      'given up',
      plain(
        qmail,
        qmailText(
          "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.",
        ),
      ),
    ],
    [
      'soft content',
      'spam after the mail',
      plain(
        qmail,
        qmailText('192.0.2.9 failed after I sent the message.\nRemote host said: 554 5.7.1 message refused as spam'),
      ),
    ],
    [
      'soft mailbox',
      'a user that is suspended',
      plain(qmail, qmailText('vdelivermail: account is locked email bounced')),
    ],
    [
      'hard mailbox suppress',
      'other first words, in utf-8',
      plain(
        `${qmail.replace('failure notice', '=?utf-8?B?ZmFpbHVyZSBub3RpY2U=?=')}\nContent-Type: text/plain; charset=utf-8`,
        qmailText('The user does not exist.').replace('Hi. This is', 'Hello from'),
      ),
    ],
  ),
  ...family(
    'DragonFly',
    [
      'hard mailbox suppress',
      'a reply',
      plain(
        dragonfly,
        dragonflyText(
          'mx2.example.net [192.0.2.9] did not like our RCPT TO:\n550 5.1.1 <ada@example.net>... User unknown',
        ),
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        dragonfly,
        dragonflyText(
          'mx2.example.net [192.0.2.9] did not like our RCPT TO:\n552 5.2.2 <ada@example.net>: Mailbox full',
        ),
      ),
    ],
    ['hard domain', 'no domain', plain(dragonfly, dragonflyText('DNS lookup failure: host example.net not found'))],
    [
      'soft network',
      'given up',
      plain(
        dragonfly,
        dragonflyText('Could not deliver for the last 432000 seconds. Giving up.\nConnection timed out'),
      ),
    ],
  ),
  ...family(
    'OpenSMTPD',
    [
      'hard mailbox suppress',
      'a reply on the line',
      mixed(opensmtpd, textPart(opensmtpdText('550 5.1.1 <ada@example.net>... User Unknown')), copyPart),
    ],
    [
      'soft quota',
      'a full mailbox',
      mixed(opensmtpd, textPart(opensmtpdText('550 5.2.2 <ada@example.net>... Mailbox Full')), copyPart),
    ],
    [
      'soft network',
      'a report with 5.0.0, the reason in the text',
      dsn(opensmtpd, opensmtpdText('Network error on destination MXs'), fields('5.0.0')),
    ],
    [
      'hard domain',
      'a domain that does not exist',
      dsn(opensmtpd, opensmtpdText('Domain does not exist'), fields('5.0.0')),
    ],
    [
      'hard mailbox suppress',
      'a reply in the text of a report',
      dsn(opensmtpd, opensmtpdText('550 Invalid recipient'), fields('5.0.0')),
    ],
    [
      'hard domain',
      'a destination that rejects all',
      dsn(opensmtpd, opensmtpdText('Destination seem to reject all mails'), fields('5.0.0')),
    ],
    ['soft network', 'expired', mixed(opensmtpd, textPart(opensmtpdText('Envelope expired')), copyPart)],
    [
      'delay',
      'a warning',
      mixed(
        opensmtpd.replace('error', 'warning'),
        textPart(`    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    A message is delayed for more than 4h for the following
    list of recipients:

ada@example.net: Network error on destination MXs

    Please note that this is only a temporary failure report.
    The message is kept in the queue for up to 4d.
    You DO NOT NEED to re-send the message to these recipients.`),
      ),
    ],
  ),
  ...family(
    'Courier',
    [
      'hard mailbox suppress',
      'an unknown user',
      dsn(courier, courierText('    User unknown.'), fields('5.1.1', 'smtp; 550 User <ada@example.net> unknown')),
    ],
    [
      'hard mailbox suppress',
      'a reply in lines',
      dsn(
        courier,
        courierText(
          '    mx2.example.net [192.0.2.9]:\n>>> RCPT TO:<ada@example.net>\n<<< 550 5.1.1 <ada@example.net>... User Unknown',
        ),
        fields('5.0.0', 'smtp; 550 5.1.1 <ada@example.net>... User Unknown'),
      ),
    ],
    [
      'soft quota',
      'a full maildir',
      dsn(
        courier,
        courierText('    maildrop: maildir over quota.'),
        fields('5.0.0', 'unknown; maildrop: maildir over quota.'),
      ),
    ],
    [
      'soft network',
      'a name server that failed',
      dsn(
        courier,
        courierText('    DNS lookup failure: example.net. Try again later.'),
        fields('4.0.0', 'unknown; DNS lookup failure: example.net. Try again later.'),
      ),
    ],
  ),
  ...family(
    'smail and old Exim',
    [
      'hard mailbox suppress',
      'failed addresses',
      plain(
        'From: <MAILER-DAEMON@mx.example.net>\nSubject: mail failed, returning to sender\nReference: <1@example.org>',
        `|------------------------- Message log follows: -------------------------|
 no valid recipients were found for this message
|------------------------- Failed addresses follow: ---------------------|
 <ada@example.net> ... director local: unknown user
|------------------------- Message text follows: ------------------------|
${COPY}`,
      ),
    ],
    [
      'hard domain',
      'no host',
      plain(
        'From: <MAILER-DAEMON@mx.example.net>\nSubject: mail failed, returning to sender',
        `|------------------------- Failed addresses follow: ---------------------|
 <ada@example.net> ... transport smtp: 550 <ada@example.net>... Host unknown
|------------------------- Message text follows: ------------------------|
${COPY}`,
      ),
    ],
    [
      'soft network',
      'a dead host',
      plain(
        'From: <MAILER-DAEMON@mx.example.net>\nSubject: mail failed, returning to sender',
        `|------------------------- Failed addresses follow: ---------------------|
 <ada@example.net> ... transport smtp: connect: Connection timed out, retry timeout exceeded
|------------------------- Message text follows: ------------------------|
${COPY}`,
      ),
    ],
  ),
];
