import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Gateways and filters in front of mail servers.

const mimecast = 'From: postmaster@mx.example.net\nSubject: [Postmaster] Email Delivery Failure';
const ironport =
  'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nSubject: Delivery Status Notification (Failure)';
const ironportText = 'The following message to <ada@example.net> was undeliverable.\nThe reason for the problem:';
const barracuda = 'From: postmaster@mx.example.net\nSubject: Undelivered Mail Returned to Sender';

export const gateways = [
  ...family(
    'Barracuda',
    [
      'soft content',
      'blocked',
      dsn(
        barracuda.replace(
          'Undelivered Mail Returned to Sender',
          '**Message you sent blocked by our bulk email filter**',
        ),
        'Your message to: ada@example.net\nwas blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:\n\nSubject: Hello',
        fields('5.7.0', 'smtp; 550 5.7.0 Message content rejected, id=1 - SPAM'),
      ),
    ],
    [
      'hard mailbox suppress',
      'a wrapped reply',
      dsn(
        barracuda,
        'This is the Barracuda at mx.example.net.',
        fields(
          '5.1.1',
          'smtp; 550 permanent failure for one or more recipients (ada@example.net:550 5.1.1 <ada@example.net>... User Unknown)',
        ),
      ),
    ],
    [
      'soft quota',
      'a wrapped full mailbox',
      dsn(
        barracuda,
        'This is the mail system.',
        fields(
          '5.0.0',
          'smtp; 550 permanent failure for one or more recipients (ada@example.net:552 5.2.2 <ada@example.net>... Mailbox full)',
        ),
      ),
    ],
  ),
  ...family(
    'Mimecast',
    [
      'hard mailbox suppress',
      'an invalid recipient',
      dsn(
        mimecast,
        'Your email message was not delivered to ada@example.net.',
        fields('5.0.0', 'smtp; 550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc]'),
      ),
    ],
    [
      'soft policy',
      'a blocked sender',
      dsn(
        mimecast,
        'Your email message was not delivered.',
        fields(
          '5.0.0',
          'smtp; 550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550',
        ),
      ),
    ],
    [
      'soft content',
      'a signature of spam',
      plain(
        mimecast,
        'The following email was rejected:\n\nTo: ada@example.net\n\n554 Email rejected due to security policies - MCSpamSignature.x.x',
      ),
    ],
  ),
  ...family(
    'Proofpoint',
    [
      'hard mailbox suppress',
      'an unknown user',
      dsn(
        'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.pphosted.example>\nSubject: Returned mail: see transcript for details',
        '   ----- The following addresses had permanent fatal errors -----\n<ada@example.net>\n    (reason: 550 5.1.1 User Unknown)\n\n   ----- Transcript of session follows -----\n... while talking to mx2.example.net.:\n>>> RCPT To:<ada@example.net>\n<<< 550 5.1.1 User Unknown',
        fields('5.1.1', 'SMTP; 550 5.1.1 User Unknown'),
      ),
    ],
    [
      'soft reputation',
      'a blocked address',
      dsn(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Returned mail',
        'Sorry.',
        fields('5.0.0', 'smtp; 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'),
      ),
    ],
    [
      'soft content',
      'spam',
      dsn(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Returned mail',
        'Sorry.',
        fields('5.7.0', 'smtp; 550 5.7.0 Local Policy Violation - This message was identified as spam'),
      ),
    ],
  ),
  ...family(
    'Cisco IronPort',
    [
      'hard mailbox suppress',
      'an address error',
      dsn(
        ironport,
        `${ironportText}\n5.1.0 - Unknown address error 550-'5.1.1 <ada@example.net>... User unknown'`,
        fields(
          '5.1.0',
          "smtp; 5.1.0 - Unknown address error 550-'5.1.1 <ada@example.net>... User unknown' (delivery attempts: 0)",
        ),
      ),
    ],
    [
      'soft policy',
      'an address error that is about access',
      dsn(
        ironport,
        ironportText,
        fields(
          '5.1.0',
          "smtp; 5.1.0 - Unknown address error 554-'5.7.1 <ada@example.net>: Access denied' (delivery attempts: 0)",
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'a bare refusal',
      dsn(ironport, ironportText, fields('5.0.0', 'smtp; 550 #5.1.0 Address rejected.')),
    ],
    [
      'soft network',
      'too old',
      dsn(
        ironport,
        ironportText,
        fields('5.4.7', "smtp; 5.4.7 - Delivery expired (message too old) 'timeout' (delivery attempts: 20)"),
      ),
    ],
    [
      'hard domain',
      'a bad host, text only',
      plain(
        ironport,
        `${ironportText}\n5.1.2 - Bad destination host 'DNS Hard Error looking up example.net (MX):  NXDomain'\n\n`,
      ),
    ],
  ),
  ...family(
    'Symantec and MessageLabs',
    [
      'hard mailbox suppress',
      'no such user',
      dsn(
        'From: <>\nSubject: Mail Delivery Failure',
        'This is the mail delivery agent at messagelabs.com.\n\nI was unable to deliver your message to the following addresses:\n\nada@example.net\n\nReason: 550 ada@example.net... No such user',
        fields('5.0.0', 'x-error; 550 ada@example.net... No such user'),
      ),
    ],
    [
      'soft content',
      'refused by a filter',
      dsn(
        'From: MAILER-DAEMON@messagelabs.com\nSubject: Mail Delivery Failure',
        'I was unable to deliver your message.',
        fields(
          '5.0.0',
          'x-error; 553-Message filtered. Refer to the Troubleshooting page for more information. 553 (#5.7.1) message contains a virus',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'an invalid recipient',
      plain(
        'From: MAILER-DAEMON@messagelabs.com\nSubject: Mail Delivery Failure',
        'This is the mail delivery agent at messagelabs.com.\nI was unable to deliver your message to the following addresses:\n\nada@example.net\n\nReason: 550 Invalid recipient <ada@example.net> (#5.1.1)',
      ),
    ],
  ),
  ...family(
    'McAfee',
    [
      'hard mailbox suppress',
      'fields with bare addresses',
      mixed(
        'From: <Postmaster@mx.example.net>\nSubject: Mail delivery problem',
        textPart(`--- The following addresses had delivery problems ---

<ada@example.net>   (User unknown ada@example.net)`),
        `Content-Type: text/plain

Final-Recipient: <ada@example.net>
Action: failed
Diagnostic-Code: Smtp; 550 5.1.1 <ada@example.net>... User unknown`,
        copyPart,
      ),
    ],
    [
      'soft quota',
      'the text only',
      plain(
        'From: Postmaster <postmaster@mx.example.net>\nSubject: Mail delivery problem',
        '--- The following addresses had delivery problems ---\n\n<ada@example.net>   (Mailbox full)\n',
      ),
    ],
    [
      'soft content',
      'refused content',
      plain(
        'From: Postmaster <postmaster@mx.example.net>\nSubject: Mail delivery problem',
        '--- The following addresses had delivery problems ---\n\n<ada@example.net>   (Virus detected in attachment)\n',
      ),
    ],
  ),
  ...family(
    'MailMarshal',
    [
      'hard mailbox suppress',
      'an unknown user',
      plain(
        'From: "MailMarshal" <postmaster@mx.example.net>\nSubject: Undeliverable Mail: "Hello"\nPrecedence: bulk\nAuto-Submitted: auto-generated',
        `Your message:
   From:    hello@example.org
   Subject: Hello

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected: 
   ada@example.net

Additional Information
======================
Original Sender:    <b+0@example.org>
Sender-MTA:         <192.0.2.1>
Remote-MTA:         <192.0.2.9>
Reporting-MTA:      <relay.example.net>
`,
      ),
    ],
    [
      'soft network',
      'a connection',
      plain(
        'From: MailMarshal Notification <postmaster@mx.example.net>\nSubject: Undeliverable Mail: "Hello"\nAuto-Submitted: auto-replied',
        'Your message:\n   Subject: Hello\n\nCould not be delivered because of\n\nConnection timed out while waiting for the host to respond\n\nThe following recipients were affected: \n   ada@example.net',
      ),
    ],
    [
      'soft content',
      'an attachment',
      plain(
        'From: postmaster@mx.example.net\nSubject: Undeliverable Mail: "Hello"',
        'Your message:\n   Subject: Hello\n\nCould not be delivered because of\n\n554 Executable attachment not allowed\n\nThe following recipients were affected: \n   ada@example.net',
      ),
    ],
  ),
  ...family(
    'MailFoundry',
    [
      'hard mailbox suppress',
      'no such user',
      plain(
        'From: Mail Delivery System <mailer-daemon@mx.example.net>\nSubject: Message delivery has failed',
        `Unable to deliver message to: <ada@example.net>
Delivery failed for the following reason:
Server mx2.example.net[192.0.2.9] failed with: 550 <ada@example.net> No such user here

This has been a permanent failure.  No further delivery attempts will be made.

${COPY}`,
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: Message delivery has failed',
        'Unable to deliver message to: <ada@example.net>\nDelivery failed for the following reason:\nServer mx2.example.net[192.0.2.9] responded with failure: 552 mailbox is over quota\n\nThis has been a permanent failure.  No further delivery attempts will be made.',
      ),
    ],
    [
      'soft network',
      'a time-out',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: Message delivery has failed',
        'Unable to deliver message to: <ada@example.net>\nDelivery failed for the following reason:\nConnection to mx2.example.net timed out\n\nNo further delivery attempts will be made.',
      ),
    ],
  ),
  ...family(
    'Trend Micro InterScan',
    [
      'hard mailbox suppress',
      'a dialogue',
      plain(
        'From: InterScan MSS <postmaster@mx.example.net>\nSubject: Mail could not be delivered',
        `Sent <<< RCPT TO:<ada@example.net>
Received >>> 550 5.1.1 <ada@example.net>... User unknown

Unable to deliver message to <ada@example.net>`,
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: "InterScan Messaging Security Suite" <imss@mx.example.net>\nSubject: Mail could not be delivered',
        'Sent <<< RCPT TO:<ada@example.net>\nReceived >>> 552 5.2.2 Mailbox full\n\nUnable to deliver message to <ada@example.net> (and other recipients in the same domain).',
      ),
    ],
    [
      'soft content',
      'a notification',
      plain(
        'From: InterScan Notification <imss@mx.example.net>\nSubject: Mail could not be delivered',
        '******************* Message from InterScan Messaging Security Suite *******************\n\n>>> DATA\n<<< 554 5.7.1 message refused as spam\n\nUnable to deliver message to <ada@example.net>',
      ),
    ],
  ),
  ...family(
    'm-FILTER',
    [
      'soft mailbox',
      'a server message after DATA',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: failure notice\nX-Mailer: m-FILTER',
        `-------server message
550 unknown user <ada@example.net>

-------SMTP command
DATA

-------original message
${COPY}`,
      ),
    ],
    [
      'hard mailbox suppress',
      'a server message to RCPT',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: failure notice\nX-Mailer: m-FILTER',
        `-------server message
550 5.1.1 <ada@example.net> User unknown

-------SMTP command
RCPT

-------original message
${COPY}`,
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: failure notice',
        `-------server message
552 5.2.2 mailbox full

-------SMTP command
RCPT

-------original message
${COPY}`,
      ),
    ],
  ),
  ...family(
    'SurfControl, MXLogic and other filters',
    [
      'hard mailbox suppress',
      'SurfControl',
      plain(
        'From: SurfControl E-mail Filter <postmaster@mx.example.net>\nSubject: Message could not be delivered',
        `Your message could not be sent.
A transcript of the attempts to send the message follows.
The number of attempts made: 1
Addressed To: ada@example.net

Thu 31 Jan 2030 09:00:00 +0000
Failed to send to identified host,
ada@example.net: [192.0.2.9], 550 ada@example.net... No such user

--- Message non-deliverable.`,
      ),
    ],
    [
      'hard mailbox suppress',
      'MXLogic',
      plain(
        'From: Mail Delivery System <Mailer-Daemon@mxlogic.example>\nSubject: Mail delivery failed: returning message to sender\nX-MX-Bounce: mta/src/queue/bounce',
        `This message was created automatically by mail delivery software.
A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ada@example.net
    SMTP error from remote mail server after RCPT TO:<ada@example.net>:
    host mx2.example.net [192.0.2.9]: 550 5.1.1 <ada@example.net>... User Unknown

Included is a copy of the message header:
-----------------------------------------
${COPY}`,
      ),
    ],
    [
      'soft quota',
      'Bigfoot',
      dsn(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Delivery failure',
        '   ----- Transcript of session follows -----\n>>> RCPT TO:<ada@example.net>\n<<< 552 Mailbox full ada@example.net (Mode: normal)',
        fields('5.0.0'),
      ),
    ],
    [
      'hard mailbox suppress',
      'Bigfoot, no groups',
      plain(
        'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nSubject: Mail delivery failed',
        '   ----- The following addresses had permanent fatal errors -----\n<ada@example.net>\n\n   ----- Transcript of session follows -----\n>>> RCPT TO:<ada@example.net>\n<<< 553 Invalid recipient ada@example.net (Mode: normal)',
      ),
    ],
    [
      'soft content',
      'amavis',
      dsn(
        'From: "Content-filter at mx.example.net" <postmaster@mx.example.net>\nSubject: Undeliverable mail, MTA-BLOCKED',
        'This message was created automatically by mail system (amavisd-new).\nYour message could not be delivered.',
        fields('5.7.0', 'smtp; 554 5.7.0 Reject, id=1-02 - spam'),
      ),
    ],
  ),
];
