import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Mailbox providers and sending services.

const google =
  'From: Mail Delivery Subsystem <mailer-daemon@googlemail.example>\nSubject: Delivery Status Notification (Failure)\nAuto-Submitted: auto-replied';
const oldGoogle = (reason: string) => `This is an automatically generated Delivery Status Notification

Delivery to the following recipient failed permanently:

     ada@example.net

Technical details of permanent failure: 
${reason}

----- Original message -----

${COPY}`;
const yahoo = 'From: MAILER-DAEMON@mta.yahoo.example\nSubject: Failure Notice';
const yahooText = (reason: string) => `Sorry, we were unable to deliver your message to the following address.

<ada@example.net>:
${reason}

--- Below this line is a copy of the message.

${COPY}`;
const oneAndOne = (reason: string) => `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"ada@example.net":
${reason}

--- The header of the original message is following. ---

${COPY}`;
const zoho = 'From: mailer-daemon@mail.zoho.example\nSubject: Undelivered Mail Returned to Sender';
const workmail = (status: string, diagnostic: string) =>
  mixed(
    'From: "Mail Delivery System" <MAILER-DAEMON@amazonses.com>\nSubject: Undeliverable: Hello',
    `Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nYour message to the following recipients cannot be delivered:\n\nada=40example.net\n\nTechnical report:\n\nReporting-MTA=3A dsn; a8-1.smtp-out.amazonses.com\n\nFinal-Recipient: rfc822;ada@example.net\nDiagnostic-Code: smtp; ${diagnostic}\nAction: failed\nStatus: ${status}=\n`,
    copyPart,
  );
const powermta = 'From: PowerMTA Mailer <postmaster@mx.example.net>\nSubject: Delivery report\nX-Mailer: PowerMTA';
const powermtaText = (reply: string) => `Hello, this is the mail server on mx.example.net.

I am sending you this message to inform you on the delivery status of a
message you previously sent.  Immediately below you will find a list of
the affected recipients;  also attached is a Delivery Status Notification
(DSN) report in standard format, as well as the headers of the original
message.

  <ada@example.net>  ${reply}`;
const sns = (notification: unknown) =>
  plain(
    'From: AWS Notifications <no-reply@sns.amazonaws.com>\nSubject: AWS Notification Message\nContent-Type: text/plain; charset=UTF-8',
    `${JSON.stringify(notification)}\n\n--\nIf you wish to stop receiving notifications from this topic, please click or visit the link below to unsubscribe:\nhttps://sns.example.com/unsubscribe.html`,
  );

export const mailServices = [
  ...family(
    'Google',
    [
      'hard mailbox suppress',
      'the old form',
      plain(
        google,
        oldGoogle(
          'Google tried to deliver your message, but it was rejected by the recipient domain. We recommend contacting the other email provider for further information about the cause of this error. The error that the other server returned was: 550 550 5.1.1 <ada@example.net>... User Unknown (state 14).',
        ),
      ),
    ],
    ['hard domain', 'no domain', plain(google, oldGoogle('DNS Error: Domain name not found'))],
    [
      'soft content',
      'state 18',
      plain(
        google,
        oldGoogle(
          'Google tried to deliver your message, but it was rejected by the recipient domain. The error that the other server returned was: 554 554 5.7.1 spam (state 18).',
        ),
      ),
    ],
    [
      'soft network',
      'no connection',
      plain(
        google,
        oldGoogle(
          'The recipient server did not accept our requests to connect. Learn more at http://support.google.example/bin/answer.py?answer=7720\n[mx.example.net (0): Connection timed out]',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'address not found',
      dsn(
        google,
        "** Address not found **\n\nYour message wasn't delivered to ada@example.net because the address couldn't be found, or is unable to receive mail.\n\nThe response from the remote server was:\n550 #5.1.0 Address rejected.",
        fields('5.1.0', 'smtp; 550 #5.1.0 Address rejected.'),
      ),
    ],
    [
      'hard domain',
      'address not found, by its domain',
      dsn(
        google,
        "** Address not found **\n\nYour message wasn't delivered to ada@example.net because the domain example.net couldn't be found. Check for typos or unnecessary spaces and try again.\n\nThe response was:\n\nDNS Error: DNS type 'mx' lookup of example.net responded with code NXDOMAIN\nDomain name not found: example.net",
        fields(
          '5.1.2',
          "smtp; DNS Error: DNS type 'mx' lookup of example.net responded with code NXDOMAIN\n Domain name not found: example.net",
        ),
      ),
    ],
    [
      'soft reputation',
      'message blocked',
      dsn(
        google,
        '** Message blocked **\n\nYour message to ada@example.net has been blocked. See technical details below for more information.',
        fields(
          '5.7.1',
          "smtp; 550-5.7.1 [192.0.2.1] The IP you're using to send mail is not authorized to\n 550-5.7.1 send email directly to our servers. 550 5.7.1 blocked due to poor reputation",
        ),
      ),
    ],
    [
      'delay',
      'delivery incomplete',
      dsn(
        google.replace('(Failure)', '(Delay)'),
        "** Delivery incomplete **\n\nThere was a temporary problem delivering your message to ada@example.net. Gmail will retry for 47 more hours. You'll be notified if the delivery fails permanently.",
        fields('4.4.1', 'smtp; The recipient server did not accept our requests to connect.', 'delayed'),
      ),
    ],
    [
      'delay',
      'the old form of a delay',
      plain(
        google.replace('(Failure)', '(Delay)'),
        'This is an automatically generated Delivery Status Notification\n\nTHIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipient has been delayed:\n\n     ada@example.net\n\nMessage will be retried for 2 more day(s)\n\nTechnical details of temporary failure: \nThe recipient server did not accept our requests to connect.',
      ),
    ],
    [
      'soft policy',
      'a group',
      plain(
        'From: Mail Delivery Subsystem <mailer-daemon@googlemail.example>\nSubject: Delivery Status Notification (Failure)\nAuto-Submitted: auto-replied',
        `Hello hello@example.org,

We're writing to let you know that the group you tried to contact (ada) may not exist, or you may not have permission to post messages to the group. A few more details on why you weren't able to post:

 * You might have spelled or formatted the group name incorrectly.
 * The owner of the group may have removed this group.
 * You may need to join the group before receiving permission to post.
 * This group may not be open to posting.

If you have questions related to this or any other Google Group, visit the Help Center.

----- Original message -----
${COPY}`,
      ),
    ],
  ),
  ...family(
    'Yahoo',
    [
      'hard mailbox suppress',
      'no account',
      plain(
        yahoo,
        yahooText(
          "554: delivery error: dd This user doesn't have a yahoo.com account (ada@example.net) [0] - mta1.yahoo.example",
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'a reply to RCPT',
      plain(yahoo, yahooText('Remote host said: 550 5.1.1 <ada@example.net>... User Unknown [RCPT_TO]')),
    ],
    [
      'soft content',
      'a reply to the body',
      plain(yahoo, yahooText('Remote host said: 550 5.7.1 Message rejected as spam [BODY]')),
    ],
    [
      'soft quota',
      'over quota',
      plain(
        yahoo,
        yahooText('552 1 Requested mail action aborted, mailbox not found or over quota. exceeded storage allocation'),
      ),
    ],
    [
      'soft mailbox',
      'a disabled account',
      plain(
        `${yahoo}\nContent-Type: text/html; charset=utf-8`,
        '<html><body><p>Sorry, we were unable to deliver your message to the following address.</p><p>&lt;ada@example.net&gt;:<br>554: delivery error: dd Sorry, your message to ada@example.net cannot be delivered. This account has been disabled or discontinued [#102].</p></body></html>',
      ),
    ],
  ),
  ...family(
    'Outlook.com',
    [
      'hard mailbox suppress',
      'the old form',
      dsn(
        'From: postmaster@mail.hotmail.example\nSubject: Delivery Status Notification (Failure)',
        'This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ada@example.net',
        fields('5.5.0', 'smtp;550 Requested action not taken: mailbox unavailable'),
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      dsn(
        'From: postmaster@mail.hotmail.example\nSubject: Delivery Status Notification (Failure)',
        'This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ada@example.net',
        fields('5.2.2', 'smtp;552 5.2.2 <ada@example.net>... Mailbox Full'),
      ),
    ],
    [
      'hard mailbox suppress',
      'a status without words',
      dsn(
        'From: postmaster@mail.hotmail.example\nSubject: Delivery Status Notification (Failure)',
        'This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ada@example.net',
        fields('5.1.1'),
      ),
    ],
  ),
  ...family(
    '1&1 and GMX',
    [
      'hard mailbox suppress',
      'a reply without a code',
      plain(
        'From: "Mail Delivery System" <mailer-daemon@kundenserver.example>\nSubject: Mail delivery failed: returning message to sender',
        oneAndOne(
          'SMTP error from remote server after RCPT command:\nhost: mx.example.net\n5.1.1 <ada@example.net>... User Unknown',
        ),
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: GMX Mailer Daemon <mailer-daemon@gmx.example>\nSubject: Mail delivery failed: returning message to sender\nAuto-Submitted: auto-replied',
        oneAndOne('Mailbox quota exceeded'),
      ),
    ],
    [
      'soft network',
      'a time',
      plain(
        'From: "GMX Mailer Daemon" <mailer-daemon@gmx.example>\nSubject: Mail delivery failed: returning message to sender',
        oneAndOne('delivery retry timeout exceeded'),
      ),
    ],
    [
      'soft content',
      'too large',
      plain(
        'From: "Mail Delivery System" <mailer-daemon@kundenserver.example>\nSubject: Mail delivery failed: returning message to sender',
        oneAndOne('Mail size limit exceeded. For explanation visit\nhttp://postmaster.example.com/size'),
      ),
    ],
    [
      'hard mailbox suppress',
      'in German',
      plain(
        'From: "Mail Delivery System" <mailer-daemon@gmx.example>\nSubject: =?utf-8?Q?Unzustellbare_Nachricht?=\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable',
        'Diese Nachricht wurde automatisch erstellt.\n\nIhre Nachricht konnte nicht zugestellt werden:\n\nada@example.net:\nDer Empf=E4nger existiert nicht\n\n--- The header of the original message is following. ---\n'.concat(
          COPY,
        ),
      ),
    ],
  ),
  ...family(
    'Zoho',
    [
      'hard mailbox suppress',
      'an error code',
      plain(
        zoho,
        `This message was created automatically by mail delivery software.
 A message that you sent could not be delivered to one or more of its recipients. This is a permanent error. 

ada@example.net Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <ada@example.net>... User Unknown

${COPY}`,
      ),
    ],
    [
      'soft network',
      'a status',
      plain(
        zoho,
        'This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n[Status: Error, Address: <ada@example.net>, ResponseCode 421, , Host not reachable.]\n',
      ),
    ],
    [
      'soft content',
      'in html',
      plain(
        `${zoho}\nContent-Type: text/html`,
        '<div>This message was created automatically by mail delivery software.<br/>A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.<br/><br/>ada@example.net, ERROR_CODE :554, ERROR_CODE :5.7.1 message rejected as spam</div>',
      ),
    ],
  ),
  ...family(
    'Amazon SES and WorkMail',
    ['hard mailbox suppress', 'WorkMail, quoted-printable', workmail('5.1.1', '550 5.1.1 User unknown')],
    ['soft quota', 'WorkMail, a full mailbox', workmail('5.2.2', '552 5.2.2 Mailbox full')],
    [
      'hard mailbox suppress',
      'SES',
      dsn(
        'From: MAILER-DAEMON@email-bounces.amazonses.com\nSubject: Delivery Status Notification (Failure)',
        'An error occurred while trying to deliver the mail to the following recipients:\nada@example.net',
        fields('5.1.1', 'smtp; 550 5.1.1 user unknown'),
      ),
    ],
    [
      'soft content',
      'SES, receiving',
      dsn(
        'From: mailer-daemon@amazonses.com\nSubject: Delivery Status Notification (Failure)',
        'This message could not be delivered.',
        fields('5.6.1', 'smtp; 500 5.6.1 Message content rejected'),
      ),
    ],
    [
      'hard mailbox suppress',
      'a notification',
      sns({
        notificationType: 'Bounce',
        bounce: {
          bounceType: 'Permanent',
          bouncedRecipients: [
            {
              emailAddress: 'ada@example.net',
              action: 'failed',
              status: '5.1.1',
              diagnosticCode: 'smtp; 550 5.1.1 user unknown',
            },
          ],
        },
        mail: { source: 'hello@example.org' },
      }),
    ],
    [
      'complaint',
      'a notification of a complaint',
      sns({
        notificationType: 'Complaint',
        complaint: { complaintFeedbackType: 'abuse', complainedRecipients: [{ emailAddress: 'ada@example.net' }] },
      }),
    ],
    [
      'ignored',
      'a notification of a delivery',
      sns({ notificationType: 'Delivery', delivery: { recipients: ['ada@example.net'] } }),
    ],
  ),
  ...family(
    'SendGrid and PowerMTA',
    [
      'hard mailbox suppress',
      'SendGrid, no Action',
      dsn(
        'From: MAILER-DAEMON@sendgrid.example\nSubject: Undelivered Mail Returned to Sender',
        "This is an automatically generated message from SendGrid.\n\nI'm sorry to have to tell you that your message was not able to be delivered to one of its intended recipients.\n\nada@example.net: 550 5.1.1 unknown user",
        fields('5.1.1', 'smtp; 550 5.1.1 <ada@example.net>: unknown user').replace('Action: failed\n', ''),
      ),
    ],
    [
      'hard mailbox suppress',
      'PowerMTA, by its category',
      dsn(
        powermta,
        powermtaText('delivery failed; will not continue trying'),
        `${fields('5.0.0')}\nX-PowerMTA-BounceCategory: bad-mailbox`,
      ),
    ],
    [
      'soft mailbox',
      'PowerMTA, an inactive mailbox',
      dsn(
        powermta,
        powermtaText('delivery failed; will not continue trying'),
        `${fields('5.0.0')}\nX-PowerMTA-BounceCategory: inactive-mailbox`,
      ),
    ],
    [
      'delay',
      'PowerMTA, a delay',
      dsn(powermta, powermtaText('delivery delayed; will continue trying'), fields('4.4.2', '', 'delayed')),
    ],
    [
      'hard domain',
      'PowerMTA, a domain',
      dsn(
        powermta,
        powermtaText('delivery failed; will not continue trying'),
        fields('5.1.2', 'smtp;554 5.1.2 (bad destination host name)'),
      ),
    ],
  ),
  ...family(
    'Facebook, Yandex, Mail.ru, Apple',
    [
      'hard mailbox suppress',
      'Facebook',
      dsn(
        'From: Facebook <mailer-daemon@mx.facebook.example>\nSubject: Sorry, your message could not be delivered',
        'This message was created automatically by Facebook.\n\nSorry, your message could not be delivered.',
        fields(
          '5.1.1',
          'smtp; 550 5.1.1 RCP-P1 http://postmaster.facebook.example/response_codes?ip=192.0.2.1#rcp Refused due to recipient preferences',
        ),
      ),
    ],
    [
      'soft policy',
      'Facebook, preferences',
      dsn(
        'From: Facebook <mailer-daemon@mx.facebook.example>\nSubject: Sorry, your message could not be delivered',
        'Sorry, your message could not be delivered.',
        fields(
          '5.7.1',
          'smtp; 554 5.7.1 POL-P7 http://postmaster.facebook.example/response_codes#pol Refused due to policy',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'Yandex',
      dsn(
        'From: mailer-daemon@yandex.example\nSubject: =?koi8-r?B?7sXEz9PUwdfMxc7Oz8Ug08/Pwt3FzsnF?=',
        "This is the mail system at host mxback.yandex.example.\n\nI'm sorry to have to inform you that your message could not be delivered to one or more recipients.",
        fields('5.7.1', 'smtp; 550 5.7.1 No such user!'),
      ),
    ],
    [
      'hard mailbox suppress',
      'Mail.ru',
      plain(
        'From: Mail Delivery System <mailer-daemon@mail.ru>\nSubject: Mail delivery failed: returning message to sender\nX-Failed-Recipients: ada@example.net',
        'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ada@example.net\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    host mxs.mail.example [192.0.2.9]: 550 Message was not accepted -- invalid mailbox.\n    Local mailbox ada@example.net is unavailable: user not found',
      ),
    ],
    [
      'hard mailbox suppress',
      'in Russian, koi8-r',
      Buffer.concat([
        Buffer.from(
          'From: mailer-daemon@mx.example.net\r\nSubject: failure notice\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=windows-1251\r\nContent-Transfer-Encoding: base64\r\n\r\n',
        ),
        Buffer.from(
          Buffer.from([
            0xcf, 0xee, 0xeb, 0xfc, 0xe7, 0xee, 0xe2, 0xe0, 0xf2, 0xe5, 0xeb, 0xfc, 0x20, 0x61, 0x64, 0x61, 0x40, 0x65,
            0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0x2e, 0x6e, 0x65, 0x74, 0x20, 0xed, 0xe5, 0x20, 0xed, 0xe0, 0xe9, 0xe4,
            0xe5, 0xed,
          ]).toString('base64'),
        ),
      ]),
    ],
    [
      'soft content',
      'iCloud',
      dsn(
        'From: MAILER-DAEMON@mr.icloud.example\nSubject: Undelivered Mail Returned to Sender',
        'This is the mail system at host mr.icloud.example.',
        fields('5.7.1', 'smtp; 554 5.7.1 [CS01] Message rejected due to local policy.'),
      ),
    ],
    [
      'hard mailbox suppress',
      'Verizon',
      plain(
        'From: Mail Delivery System <post_master@vtext.example>\nSubject: Undeliverable Message',
        'Message could not be delivered to mobile.\n\nError: 550 - Requested action not taken: no such user here\n\nada@example.net',
      ),
    ],
    [
      'soft quota',
      'Verizon, in parts',
      mixed(
        'From: <postmaster@vzwpix.example>\nSubject: Undeliverable Message',
        textPart(
          'Message could not be delivered to mobile.\nError: 552 - Requested mail action aborted: exceeded storage allocation',
        ),
        copyPart,
      ),
    ],
  ),
];
