import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Mail servers of organizations: all generations of Microsoft Exchange, Domino, GroupWise, MDaemon, IMail, James and
// others.

const exchange2007 = (reason: string, language: 'en' | 'de' | 'fr' = 'en') => {
  const words = {
    en: [
      "Your message wasn't delivered because of a problem. Microsoft Exchange will not try to redeliver this message for you.",
      'Diagnostic information for administrators:',
      'Generating server: mx.example.net',
      'Original message headers:',
    ],
    de: [
      'Die Nachricht konnte nicht zugestellt werden.',
      'Diagnoseinformationen für Administratoren:',
      'Generierender Server: mx.example.net',
      'Ursprüngliche Nachrichtenkopfzeilen:',
    ],
    fr: [
      "Votre message n'a pas été remis.",
      'Informations de diagnostic pour les administrateurs :',
      'Serveur de génération : mx.example.net',
      "En-têtes de message d'origine :",
    ],
  }[language];
  return `${words[0]}\n\n${words[1]}\n\n${words[2]}\n\nada@example.net\n${reason}\n\n${words[3]}\n\n${COPY}`;
};
const exchange =
  'From: Microsoft Exchange Recipient <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@example.net>\nSubject: Undeliverable: Hello\nAuto-Submitted: auto-replied';
const exchange2003 = (reason: string) => `Your message did not reach some or all of the intended recipients.

      Subject:\tHello
      Sent:\t1/31/2030 9:00 AM

The following recipient(s) could not be reached:

      ada@example.net on 1/31/2030 9:00 AM
            ${reason}`;
const exchange55 = (reason: string) => `Your message

  To:      ada@example.net
  Subject: Hello
  Sent:    Thu, 31 Jan 2030 09:00:00 -0000

did not reach the following recipient(s):

ada@example.net on Thu, 31 Jan 2030 09:00:01 -0000
    ${reason}
`;
const domino = (reason: string) => `Your message

  Subject: Hello

was not delivered to:

  ada@example.net

because:

  ${reason}
`;
const groupwise = (reason: string) => `The message that you sent was undeliverable to the following:
\tada@example.net (${reason})

Possibly truncated original message follows:

${COPY}`;
const mdaemon = (transcript: string) => `The attached message had PERMANENT fatal delivery errors!

After one or more unsuccessful delivery attempts the attached message has
been removed from the mail queue on this server.  The number and frequency
of delivery attempts are determined by local configuration parameters.

YOUR MESSAGE WAS NOT DELIVERED TO ONE OR MORE RECIPIENTS!

Failed address: ada@example.net

--- Session Transcript ---
 Thu 2030-01-31 09:00:00: [1:1] Attempting SMTP connection to [192.0.2.9:25]
 Thu 2030-01-31 09:00:00: [1:1] --> RCPT To:<ada@example.net>
 Thu 2030-01-31 09:00:00: [1:1] <-- ${transcript}
--- End Transcript ---

: Message contains [1] file attachments`;
const imail =
  'From: Postmaster <postmaster@mx.example.net>\nSubject: Undeliverable Mail \nX-Mailer: <SMTP32 v20300131>';
const james = (reason: string) => `Hi. This is the James mail server at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out. Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
ada@example.net

Error message:
${reason}

Message details:
  Subject: Hello
  Sent date: Thu Jan 31 09:00:00 GMT 2030
`;
const oracle = (reason: string) => `This report relates to a message you sent with the following header fields:

  Message-id: <1@example.org>
  Date: Thu, 31 Jan 2030 09:00:00 +0000
  From: hello@example.org
  Subject: Hello

Your message cannot be delivered to the following recipients:

  Recipient address: ada@example.net
  ${reason}`;

export const officeServers = [
  ...family(
    'Exchange 5.5',
    [
      'hard mailbox suppress',
      'a name that is not recognized',
      plain(
        'From: System Administrator <postmaster@example.net>\nSubject: Undeliverable: Hello\nX-Mailer: Internet Mail Service (5.5.2653.19)',
        exchange55(
          'The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=us;a= ;p=example;l=MX0301310900\n    MSEXCH:IMS:EXAMPLE:SITE:MX 0 (000C05A6) Unknown Recipient',
        ),
      ),
    ],
    [
      'soft content',
      'a mail too large',
      mixed(
        'From: System Administrator <postmaster@example.net>\nSubject: Undeliverable: Hello',
        textPart(
          exchange55(
            'The message was too large\n    MSEXCH:IMS:EXAMPLE:SITE:MX 3550 (000B09AA) 552 message exceeds fixed maximum message size',
          ),
        ),
        copyPart,
      ),
    ],
    [
      'hard domain',
      'an unknown host',
      plain(
        'From: System Administrator <postmaster@example.net>\nSubject: Undeliverable: Hello',
        exchange55('The recipient could not be reached\n    MSEXCH:IMS:EXAMPLE:SITE:MX 3499 (000B099C) Host Unknown'),
      ),
    ],
  ),
  ...family(
    'Exchange 2000 and 2003',
    [
      'hard mailbox suppress',
      'no such account',
      dsn(
        'From: postmaster@example.net\nSubject: Undeliverable: Hello',
        exchange2003(
          'The e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.\n            <mx.example.net #5.1.1>',
        ),
        fields('5.1.1'),
      ),
    ],
    [
      'hard mailbox suppress',
      'the text only',
      plain(
        'From: System Administrator\nSubject: Undeliverable: Hello',
        exchange2003(
          'The e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.\n            <mx.example.net #5.1.1>',
        ),
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      dsn(
        'From: postmaster@example.net\nSubject: Delivery Status Notification (Failure)',
        'This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ada@example.net',
        `${fields('5.2.2')}\nX-Supplementary-Info: <mx.example.net #5.2.2 smtp;552 5.2.2 Mailbox size limit exceeded>`,
      ),
    ],
    [
      'hard mailbox suppress',
      'the reply in another field',
      dsn(
        'From: postmaster@example.net\nSubject: Undeliverable: Hello',
        exchange2003("There was a SMTP communication problem with the recipient's email server."),
        `${fields('5.0.0')}\nX-Supplementary-Info: <mx.example.net #5.5.0 smtp;550 5.1.1 User unknown>`,
      ),
    ],
    [
      'soft policy',
      'no permission',
      plain(
        'From: System Administrator\nSubject: Undeliverable: Hello',
        exchange2003(
          'You do not have permission to send to this recipient.  For assistance, contact your system administrator.\n            <mx.example.net #5.7.1 smtp;550 5.7.1 Unable to relay for ada@example.net>',
        ),
      ),
    ],
    [
      'delay',
      'a delay',
      dsn(
        'From: postmaster@example.net\nSubject: Delivery Status Notification (Delay)',
        'This is an automatically generated Delivery Status Notification.\n\nTHIS IS A WARNING MESSAGE ONLY.\n\nYOU DO NOT NEED TO RESEND YOUR MESSAGE.\n\nDelivery to the following recipients has been delayed.\n\n       ada@example.net',
        fields('4.4.7', '', 'delayed'),
      ),
    ],
  ),
  ...family(
    'Exchange 2007 to 2019',
    [
      'hard mailbox suppress',
      'not in the directory',
      dsn(
        exchange,
        exchange2007('#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##'),
        fields('5.1.1', 'smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'),
      ),
    ],
    [
      'hard mailbox suppress',
      'the text only, German',
      mixed(
        exchange.replace('Undeliverable', 'Unzustellbar'),
        `Content-Type: text/plain; charset=utf-8\n\n${exchange2007('#550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found ##', 'de')}`,
      ),
    ],
    [
      'soft content',
      'too large, French',
      dsn(
        exchange.replace('Undeliverable', 'Non remis'),
        exchange2007('#550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient ##', 'fr'),
        fields('5.2.3', 'smtp;550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient'),
        'text/plain; charset=utf-8',
      ),
    ],
    [
      'soft network',
      'expired',
      dsn(
        exchange,
        exchange2007('#550 4.4.7 QUEUE.Expired; message expired ##'),
        fields('4.4.7', 'smtp;550 4.4.7 QUEUE.Expired; message expired'),
      ),
    ],
    [
      'soft quota',
      'a full mailbox, html only',
      mixed(
        exchange,
        'Content-Type: text/html; charset=utf-8\n\n<html><head><style>p { color: red }</style></head><body><p>Delivery has failed to these recipients or groups:</p><p><a href="mailto:ada@example.net">ada@example.net</a><br>The recipient&#39;s mailbox is full and can&rsquo;t accept messages now.</p></body></html>',
        copyPart,
      ),
    ],
    [
      'soft policy',
      'a group for members',
      dsn(
        exchange,
        exchange2007('#550 5.7.1 RESOLVER.RST.AuthRequired; authentication required ##'),
        fields('5.7.1', 'smtp;550 5.7.1 RESOLVER.RST.AuthRequired; authentication required'),
      ),
    ],
    [
      'hard domain',
      'no such domain',
      dsn(
        exchange,
        exchange2007('#550 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain ##'),
        fields('5.4.4', 'smtp;554 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain'),
      ),
    ],
    [
      'delay',
      'a delay',
      dsn(
        exchange.replace('Undeliverable', 'Delivery delayed'),
        "Delivery is delayed to these recipients or groups:\n\nada@example.net\n\nThis message hasn't been delivered yet. Delivery will continue to be attempted.",
        fields('4.4.7', 'smtp;400 4.4.7 Message delayed', 'delayed'),
      ),
    ],
  ),
  ...family(
    'Office 365',
    [
      'hard mailbox suppress',
      'not found',
      dsn(
        'From: <postmaster@example.onmicrosoft.com>\nSubject: Undeliverable: Hello\nAuto-Submitted: auto-replied',
        "Your message to ada@example.net couldn't be delivered.\n\nada wasn't found at example.net.\n\nstatus code: 550 5.1.10",
        fields('5.1.10', 'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'),
      ),
    ],
    [
      'hard mailbox suppress',
      'the edge',
      dsn(
        'From: <postmaster@example.net>\nSubject: Undeliverable: Hello',
        "Your message to ada@example.net couldn't be delivered.",
        fields('5.4.1', 'smtp;550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [AM.eop.example.net]'),
      ),
    ],
    [
      'hard mailbox suppress',
      'text only, marked as automatic',
      plain(
        'From: postmaster@example.net\nSubject: Undeliverable: Hello\nAuto-Submitted: auto-replied\nX-Auto-Response-Suppress: All',
        "Delivery has failed to these recipients or groups:\n\nada@example.net\nThe email address you entered couldn't be found. Please check the recipient's email address and try to resend the message. If the problem continues, please contact your email admin.\n\nDiagnostic information for administrators:\n\nGenerating server: AM1.example.com\n\nada@example.net\nRemote Server returned '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'\n\nOriginal message headers:\n\n".concat(
          COPY,
        ),
      ),
    ],
    [
      'soft mailbox',
      'a disabled account',
      dsn(
        'From: postmaster@example.net\nSubject: Undeliverable: Hello',
        "Your message couldn't be delivered.",
        fields('5.2.1', 'smtp;550 5.2.1 Mailbox is disabled'),
      ),
    ],
    [
      'soft network',
      'a loop',
      dsn(
        'From: postmaster@example.net\nSubject: Undeliverable: Hello',
        'A mail loop was detected.',
        fields('5.4.14', 'smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34'),
      ),
    ],
  ),
  ...family(
    'Domino',
    [
      'hard mailbox suppress',
      'not in the directory, groups with 5.0.0',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: User ada (ada@example.net) not listed in Domino Directory',
        domino('User ada (ada@example.net) not listed in Domino Directory'),
        fields('5.0.0'),
      ),
    ],
    [
      'hard mailbox suppress',
      'the text only, marked as automatic',
      plain(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: User ada (ada@example.net) not listed in public Name & Address Book\nAuto-Submitted: auto-generated\nPrecedence: bulk',
        domino('User ada (ada@example.net) not listed in public Name & Address\n  Book'),
      ),
    ],
    [
      'soft policy',
      'no relay',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: 554 5.7.1 Relay',
        domino(
          'Error transferring to MX.EXAMPLE.NET; SMTP Protocol Returned a Permanent Error 550 5.7.1 Unable to relay for ada@example.net',
        ),
        fields(
          '5.7.1',
          'X-Notes; Error transferring to MX.EXAMPLE.NET; SMTP\n Protocol Returned a Permanent Error 550 5.7.1 Unable to relay',
        ),
      ),
    ],
    [
      'soft quota',
      'a full mail file',
      plain(
        "From: Postmaster@example.net\nSubject: DELIVERY FAILURE: User ada's mail file is over its quota",
        domino("User ada's database has exceeded its size quota"),
      ),
    ],
    [
      'hard domain',
      'no route',
      plain(
        'From: Mail Router <Postmaster@example.net>\nSubject: DELIVERY FAILURE: Error transferring',
        domino('Host example.net not found. No such domain'),
      ),
    ],
  ),
  ...family(
    'GroupWise',
    [
      'hard mailbox suppress',
      'user unknown',
      plain('From: Mailer-Daemon@mx.example.net\nSubject: Message status - undeliverable', groupwise('user unknown')),
    ],
    [
      'soft quota',
      'a full mailbox, in parts',
      mixed(
        'From: Mailer-Daemon@mx.example.net\nSubject: Message status - undeliverable',
        textPart(groupwise('mailbox is full')),
        copyPart,
      ),
    ],
    [
      'hard mailbox suppress',
      'a reply',
      plain(
        'From: Mailer-Daemon@mx.example.net\nSubject: Message status - undeliverable',
        groupwise('550 5.1.1 <ada@example.net>... no such address'),
      ),
    ],
    [
      'soft content',
      'refused content',
      plain(
        'From: Mailer-Daemon@mx.example.net\nSubject: Message status - undeliverable',
        groupwise('554 5.7.1 Message contains a virus'),
      ),
    ],
  ),
  ...family(
    'MDaemon',
    [
      'hard mailbox suppress',
      'an unknown user',
      mixed(
        'From: MDaemon@mx.example.net\nSubject: Permanent Delivery Failure\nX-MDaemon-Deliver-To: b+0@example.org',
        textPart(mdaemon('550 5.1.1 <ada@example.net>, Recipient unknown')),
        copyPart,
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: Postmaster <MDaemon@mx.example.net>\nSubject: MDaemon Notification -- Delivery failure',
        mdaemon('552 Requested mail action aborted: exceeded storage allocation'),
      ),
    ],
    [
      'delay',
      'a warning',
      plain(
        'From: MDaemon@mx.example.net\nSubject: WARNING: Transient Delivery Failure',
        'The attached message had TRANSIENT non-fatal delivery errors.\n\nThis server will continue to try to deliver the message. You need not resend it.\n\nFailed address: ada@example.net',
      ),
    ],
    [
      'soft policy',
      'no relay',
      plain(
        'From: MDaemon@mx.example.net\nSubject: Permanent Delivery Failure',
        mdaemon('550 5.7.1 Sorry, relaying denied'),
      ),
    ],
  ),
  ...family(
    'IMail',
    [
      'hard mailbox suppress',
      'an unknown user',
      plain(imail, `Unknown user: ada@example.net\n\nOriginal message follows.\n\n${COPY}`),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(imail, `User mailbox exceeds allowed size: ada@example.net\n\nOriginal message follows.\n\n${COPY}`),
    ],
    [
      'hard domain',
      'an unknown host',
      plain(imail, `Unknown host: ada@example.net\n\nOriginal message follows.\n\n${COPY}`),
    ],
    [
      'soft network',
      'given up',
      plain(imail, `Delivery failed 20 attempts: ada@example.net\n\nOriginal message follows.\n\n${COPY}`),
    ],
    [
      'hard mailbox suppress',
      'an invalid userid',
      plain(
        imail.replace(/\nX-Mailer.*/, ''),
        `Invalid final delivery userid: ada@example.net\n\nOriginal message follows.\n\n${COPY}`,
      ),
    ],
  ),
  ...family(
    'Apache James',
    [
      'hard mailbox suppress',
      'no such user',
      mixed(
        'From: postmaster@mx.example.net\nSubject: [BOUNCE]Hello',
        textPart(james('550 - Requested action not taken: no such user here')),
        copyPart,
      ),
    ],
    [
      'soft quota',
      'over quota',
      mixed('From: postmaster@mx.example.net\nSubject: Re: Hello', textPart(james('552 5.2.2 Over quota')), copyPart),
    ],
    [
      'soft network',
      'a connection',
      plain(
        'From: Mail Delivery System <postmaster@mx.example.net>\nSubject: Hello',
        james('There was a problem: Could not connect to SMTP host: mx2.example.net, port: 25; connection refused'),
      ),
    ],
  ),
  ...family(
    'Oracle Messaging Server',
    [
      'hard mailbox suppress',
      'a refused address',
      dsn(
        'From: Internet Mail Delivery <postmaster@mx.example.net>\nSubject: Delivery Notification: Delivery has failed',
        oracle(
          'Reason: Remote SMTP server has rejected address\n  Diagnostic code: smtp;550 5.1.1 <ada@example.net>... User Unknown\n  Remote system: dns;mx2.example.net',
        ),
        fields('5.1.1 (Remote SMTP server has rejected address)', 'smtp;550 5.1.1 <ada@example.net>... User Unknown'),
      ),
    ],
    [
      'hard mailbox suppress',
      'no Action, words behind the status',
      dsn(
        'From: Internet Mail Delivery <postmaster@mx.example.net>\nSubject: Delivery Notification: Delivery has failed',
        oracle('Reason: unknown or illegal alias'),
        fields('5.1.1 (unknown or illegal alias)').replace('Action: failed\n', ''),
      ),
    ],
    [
      'soft quota',
      'over quota',
      dsn(
        'From: Internet Mail Delivery <postmaster@mx.example.net>\nSubject: Delivery Notification: Delivery has failed',
        oracle('Reason: over quota'),
        fields('5.2.2 (over quota)'),
      ),
    ],
    [
      'delay',
      'a delay',
      dsn(
        'From: Internet Mail Delivery <postmaster@mx.example.net>\nSubject: Delivery Notification: Delivery has been delayed',
        'Your message is being held in the queue and delivery will be retried. You need not resend it.',
        fields('4.4.7', '', 'delayed'),
      ),
    ],
  ),
  ...family(
    'Lotus Notes',
    [
      'hard mailbox suppress',
      'not listed',
      plain(
        'From: Mail Router <postmaster@example.net>\nSubject: Undeliverable message\nX-Mailer: Lotus Notes',
        `------- Failure Reasons  --------

User not listed in public Name & Address Book
ada@example.net

------- Returned Message --------

${COPY}`,
      ),
    ],
    [
      'soft network',
      'hops',
      plain(
        'From: postmaster@example.net\nSubject: Undeliverable message',
        `------- Failure Reasons  --------

Message has exceeded maximum hop count
ada@example.net

------- Returned Message --------

${COPY}`,
      ),
    ],
  ),
];
