import { dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Servers that organizations install, with the formats and languages of their reports.

const outlook =
  'From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@example.net>\nSubject: Undeliverable: Hello';
const html = 'text/html; charset=utf-8';
const postfix =
  'From: MAILER-DAEMON@mx.example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\nAuto-Submitted: auto-replied';
const postfixText = (reason: string) =>
  `This is the mail system at host mx.example.net.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\nIf you do so, please include this problem report. You can\ndelete your own text from the attached returned message.\n\n                   The mail system\n\n<ada@example.net>: ${reason}`;
const viaPostfix = (status: string, reason: string, type = 'smtp') =>
  dsn(postfix, postfixText(reason), fields(status, `${type}; ${reason}`));
const exim =
  'From: Mail Delivery System <Mailer-Daemon@mx.example.net>\nSubject: Mail delivery failed: returning message to sender\nAuto-Submitted: auto-replied\nX-Failed-Recipients: ada@example.net';
const viaExim = (reason: string) =>
  plain(
    exim,
    `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ada@example.net\n    ${reason}\n\n------ This is a copy of the message, including all the headers. ------\n\nReturn-path: <b+0@example.org>\nSubject: mailbox full`,
  );
const sendmail =
  'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail: see transcript for details\nAuto-Submitted: auto-generated (failure)';
const viaSendmail = (status: string, reason: string, transcript: string) =>
  dsn(
    sendmail,
    `The original message was received at Thu, 31 Jan 2030 09:00:00 GMT\nfrom mail.example.org [192.0.2.1]\n\n   ----- The following addresses had permanent fatal errors -----\n<ada@example.net>\n    (reason: ${reason})\n\n   ----- Transcript of session follows -----\n${transcript}`,
    fields(status, `SMTP; ${reason}`),
  );
const qmail = 'From: MAILER-DAEMON@mx.example.net\nSubject: failure notice';
const viaQmail = (reason: string) =>
  plain(
    qmail,
    `Hi. This is the qmail-send program at mx.example.net.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<ada@example.net>:\n${reason}\n\n--- Below this line is a copy of the message.\n\nReturn-Path: <b+0@example.org>\nSubject: user unknown`,
  );

export const installedServers = [
  ...family(
    'Exchange Online',
    [
      'hard mailbox suppress',
      'not in the directory',
      dsn(
        outlook,
        "<html><body><p>Your message to ada@example.net couldn't be delivered.</p><p>ada wasn't found at example.net.</p><p>Unknown To address</p><p>How to Fix It</p><p>The address may be misspelled or may not exist.</p></body></html>",
        fields(
          '5.1.10',
          'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ada@example.net not found by SMTP address lookup',
        ),
        html,
      ),
    ],
    [
      'soft policy',
      'a group for known senders',
      dsn(
        outlook,
        "<p>The group ada only accepts messages from people in its organization or on its allowed senders list, and your email address isn't on the list.</p>",
        fields(
          '5.7.133',
          'smtp;550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
        ),
        html,
      ),
    ],
    [
      'soft quota',
      'a full mailbox behind an exception',
      dsn(
        outlook,
        "<p>ada's mailbox is full and can't accept messages now.</p>",
        fields(
          '5.2.2',
          'smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception with message [BeginDiagnosticData]Cannot open mailbox /o=First/cn=ada. 16.55847:B3000000',
        ),
        html,
      ),
    ],
    [
      'soft network',
      'a server that was never reached',
      dsn(
        outlook,
        '<p>Your message could not be delivered. Despite repeated attempts to contact the recipient’s email system it didn’t respond.</p>',
        fields('5.4.316', 'smtp;550 5.4.316 Message expired, connection refused(Socket error code 10061)'),
        html,
      ),
    ],
    [
      'hard mailbox suppress',
      'the reply of another server',
      dsn(
        outlook,
        "<p>ada@example.net: Remote server returned '550 5.1.1 The email account that you tried to reach does not exist.'</p>",
        fields(
          '5.0.350',
          'smtp;550 5.0.350 Remote server returned an error -> 550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the address for typos',
        ),
        html,
      ),
    ],
    [
      'soft reputation',
      'spam by another server',
      dsn(
        outlook,
        '<p>Your message was detected as spam.</p>',
        fields(
          '5.7.350',
          'smtp;550 5.7.350 Remote server returned message detected as spam -> 554 5.7.1 This message has been blocked because it contains unknown user content',
        ),
        html,
      ),
    ],
    [
      'soft policy',
      'a bad sender',
      dsn(
        outlook,
        '<p>Your message could not be delivered because you were not recognized as a valid sender.</p>',
        fields('5.1.8', 'smtp;550 5.1.8 Access denied, bad outbound sender AS(42003)'),
        html,
      ),
    ],
    [
      'hard mailbox suppress',
      'refused by the edge for its directory',
      dsn(
        outlook,
        '<p>Your message to ada@example.net couldn’t be delivered.</p>',
        fields('5.4.1', 'smtp;550 5.4.1 Recipient address rejected: Access denied. AS(201806281)'),
        html,
      ),
    ],
    [
      'soft policy',
      'a rule of the organisation',
      dsn(
        outlook,
        '<p>A custom mail flow rule created by an admin at example.net has blocked your message.</p>',
        fields(
          '5.7.1',
          'smtp;550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy',
        ),
        html,
      ),
    ],
    [
      'soft network',
      'a loop of forwards',
      dsn(
        outlook,
        '<p>A problem occurred while delivering this message. A mail loop was detected.</p>',
        fields('5.4.14', 'smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34'),
        html,
      ),
    ],
  ),
  ...family(
    'Exchange in other languages',
    [
      'hard mailbox suppress',
      'German, text alone',
      plain(
        'From: Microsoft Exchange <postmaster@example.net>\nSubject: Unzustellbar: Hello\nContent-Type: text/plain; charset=utf-8',
        'Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\nada@example.net\nDie eingegebene E-Mail-Adresse wurde nicht gefunden. Überprüfen Sie die E-Mail-Adresse des Empfängers, und versuchen Sie, die Nachricht erneut zu senden.\n\nDiagnoseinformationen für Administratoren:\n\nGenerierender Server: mx.example.net\n\nada@example.net\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n\nUrsprüngliche Nachrichtenköpfe:\n\nReceived: from mail.example.org',
      ),
    ],
    [
      'soft quota',
      'German, a full mailbox',
      plain(
        'From: postmaster@example.net\nSubject: Unzustellbar: Hello\nContent-Type: text/plain; charset=utf-8',
        'Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\nada@example.net\nDas Postfach des Empfängers ist voll und kann zurzeit keine Nachrichten annehmen.',
      ),
    ],
    [
      'hard mailbox suppress',
      'French, text alone',
      plain(
        'From: Microsoft Outlook <postmaster@example.net>\nSubject: =?utf-8?Q?Non_remis_:_Hello?=\nContent-Type: text/plain; charset=utf-8',
        "La remise a échoué pour ces destinataires ou groupes :\n\nada@example.net\nL'adresse de messagerie que vous avez entrée est introuvable. Vérifiez l'adresse du destinataire et essayez de renvoyer le message.",
      ),
    ],
    [
      'hard mailbox suppress',
      'Spanish, text alone',
      plain(
        'From: postmaster@example.net\nSubject: No se puede entregar: Hello\nContent-Type: text/plain; charset=utf-8',
        'Error al entregar el mensaje a estos destinatarios o grupos:\n\nada@example.net\nNo se encontró la dirección de correo electrónico que ha especificado. Compruebe la dirección de correo electrónico del destinatario e intente reenviar el mensaje.',
      ),
    ],
    [
      'hard mailbox suppress',
      'Italian, text alone',
      plain(
        'From: postmaster@example.net\nSubject: Non recapitabile: Hello\nContent-Type: text/plain; charset=utf-8',
        "Impossibile recapitare il messaggio ai seguenti destinatari o gruppi:\n\nada@example.net\nL'indirizzo di posta elettronica immesso non è stato trovato. Controllare l'indirizzo di posta elettronica del destinatario e provare a inviare di nuovo il messaggio.",
      ),
    ],
    [
      'hard mailbox suppress',
      'Dutch, text alone',
      plain(
        'From: postmaster@example.net\nSubject: Onbestelbaar: Hello\nContent-Type: text/plain; charset=utf-8',
        'Het bezorgen is mislukt aan deze geadresseerden of groepen:\n\nada@example.net\nHet opgegeven e-mailadres kan niet worden gevonden. Controleer het e-mailadres en probeer het bericht opnieuw te verzenden.',
      ),
    ],
    [
      'hard mailbox suppress',
      'Portuguese, text alone',
      plain(
        'From: postmaster@example.net\nSubject: =?utf-8?Q?N=C3=A3o_foi_poss=C3=ADvel_entregar:_Hello?=\nContent-Type: text/plain; charset=utf-8',
        'Falha na entrega a estes destinatários ou grupos:\n\nada@example.net\nO endereço de email inserido não foi encontrado. Verifique o endereço de email do destinatário e tente reenviar a mensagem.',
      ),
    ],
    [
      'hard mailbox suppress',
      'Japanese, text alone',
      plain(
        'From: postmaster@example.net\nSubject: =?utf-8?B?6YWN5L+h5LiN6IO9OiBIZWxsbw==?=\nContent-Type: text/plain; charset=utf-8',
        '次の受信者またはグループへの配信に失敗しました:\n\nada@example.net\n入力した電子メール アドレスは見つかりませんでした。受信者の電子メール アドレスを確認し、メッセージを再送信してください。',
      ),
    ],
    [
      'hard mailbox suppress',
      'Chinese, text alone',
      plain(
        'From: postmaster@example.net\nSubject: =?utf-8?B?5peg5rOV6YCS6YCBOiBIZWxsbw==?=\nContent-Type: text/plain; charset=utf-8',
        '无法将邮件递送至下列收件人或组:\n\nada@example.net\n找不到您输入的电子邮件地址。请检查收件人的电子邮件地址并尝试重新发送该邮件。',
      ),
    ],
  ),
  ...family(
    'Postfix',
    [
      'hard mailbox suppress',
      'a virtual mailbox table',
      viaPostfix(
        '5.1.1',
        'host mx2.example.net[192.0.2.5] said: 550 5.1.1 <ada@example.net>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)',
      ),
    ],
    ['soft network', 'a loop', viaPostfix('5.4.6', 'mail for example.net loops back to myself', 'x-postfix')],
    [
      'hard domain',
      'a name that does not exist',
      viaPostfix(
        '5.4.4',
        'Host or domain name not found. Name service error for name=example.net type=A: Host not found',
        'x-postfix',
      ),
    ],
    [
      'soft network',
      'a timeout',
      viaPostfix('4.4.1', 'connect to mx2.example.net[192.0.2.5]:25: Connection timed out', 'x-postfix'),
    ],
    [
      'soft quota',
      'a disk quota',
      viaPostfix('5.2.2', 'maildir delivery failed: error writing message: Disk quota exceeded', 'x-postfix'),
    ],
    ['hard mailbox suppress', 'a local user', viaPostfix('5.1.1', 'unknown user: "ada"', 'x-unix')],
    [
      'soft content',
      'a size',
      viaPostfix(
        '5.3.4',
        'message size 14680064 exceeds size limit 10240000 of server mx2.example.net[192.0.2.5]',
        'x-postfix',
      ),
    ],
    [
      'soft quota',
      'Zimbra behind it',
      viaPostfix(
        '4.2.2',
        'host mbox.example.net[192.0.2.5] said: 452 4.2.2 Over quota (in reply to end of DATA command)',
      ),
    ],
    [
      'hard mailbox suppress',
      'Dovecot behind it',
      viaPostfix(
        '5.1.1',
        "host mx.example.net[private/dovecot-lmtp] said: 550 5.1.1 <ada@example.net> User doesn't exist: ada@example.net (in reply to RCPT TO command)",
      ),
    ],
    [
      'soft quota',
      'Dovecot with a full mailbox',
      viaPostfix(
        '5.2.2',
        'host mx.example.net[private/dovecot-lmtp] said: 552 5.2.2 <ada@example.net> Quota exceeded (mailbox for user is full) (in reply to end of DATA command)',
      ),
    ],
    [
      'soft network',
      'a server whose address could not be verified',
      viaPostfix(
        '4.1.1',
        'host mx2.example.net[192.0.2.5] said: 450 4.1.1 <ada@example.net>: Recipient address rejected: unverified address: connect to mbox.example.net[10.0.0.5]:25: Connection timed out (in reply to RCPT TO command)',
      ),
    ],
    [
      'hard mailbox suppress',
      'an address that was verified as undeliverable',
      viaPostfix(
        '5.1.1',
        'host mx2.example.net[192.0.2.5] said: 550 5.1.1 <ada@example.net>: Recipient address rejected: undeliverable address: host mbox.example.net[10.0.0.5] said: 550 5.1.1 User unknown (in reply to RCPT TO command) (in reply to RCPT TO command)',
      ),
    ],
    ['hard domain', 'a null MX', viaPostfix('5.1.0', 'Domain example.net does not accept mail (nullMX)', 'x-postfix')],
  ),
  ...family(
    'Exim',
    [
      'soft network',
      'hosts that have been failing',
      viaExim("all hosts for 'example.net' have been failing for a long time (and retry time not reached)"),
    ],
    [
      'hard mailbox suppress',
      'a relay recipient table',
      viaExim(
        'host mx2.example.net [192.0.2.5]\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    550 5.1.1 <ada@example.net>: Recipient address rejected:\n    User unknown in relay recipient table',
      ),
    ],
    [
      'soft content',
      'refused after the data',
      viaExim(
        'host mx2.example.net [192.0.2.5]\n    SMTP error from remote mail server after end of data:\n    550 Rejected: this looks like spam for an unknown user',
      ),
    ],
    [
      'soft content',
      'an executable attachment',
      viaExim(
        'This message has been rejected because it has\n    a potentially executable attachment "invoice.exe"\n    This form of attachment has been used by\n    recent viruses or other malware.',
      ),
    ],
    [
      'soft authentication',
      'a sender that it could not verify',
      viaExim(
        'host mx2.example.net [192.0.2.5]\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    550-Verification failed for <b+0@example.org>\n    550-No Such User Here\n    550 Sender verify failed',
      ),
    ],
    ['soft quota', 'a quota', viaExim('mailbox is full: retry timeout exceeded')],
    [
      'hard mailbox suppress',
      'cPanel',
      viaExim(
        'host mx2.example.net [192.0.2.5]\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    550 No Such User Here"',
      ),
    ],
    [
      'soft reputation',
      'cPanel, which does not know why',
      viaExim(
        'host mx2.example.net [192.0.2.5]\n    SMTP error from remote mail server after RCPT TO:<ada@example.net>:\n    550 The mail server could not deliver mail to ada@example.net.  The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.',
      ),
    ],
  ),
  ...family(
    'sendmail',
    [
      'hard domain',
      'an unknown host',
      viaSendmail(
        '5.1.2',
        '550 Host unknown',
        '550 5.1.2 <ada@example.net>... Host unknown (Name server: example.net: host not found)',
      ),
    ],
    [
      'soft network',
      'given up after five days',
      dsn(
        'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail: Cannot send message for 5 days',
        '   ----- The following addresses had permanent fatal errors -----\n<ada@example.net>\n\n   ----- Transcript of session follows -----\n<ada@example.net>... Deferred: Connection refused by mx2.example.net.\nMessage could not be delivered for 5 days\nMessage will be deleted from queue',
        fields('4.4.7', ''),
      ),
    ],
    [
      'soft quota',
      'procmail',
      viaSendmail(
        '5.2.0',
        "can't create (user) output file",
        'procmail: Quota exceeded while writing "/var/mail/ada"\n550 5.0.0 ada@example.net... Can\'t create output',
      ),
    ],
    [
      'hard mailbox suppress',
      'a local user',
      viaSendmail(
        '5.1.1',
        '550 5.1.1 <ada@example.net>... User unknown',
        '... while talking to mx2.example.net.:\n>>> DATA\n<<< 550 5.1.1 <ada@example.net>... User unknown\n550 5.1.1 <ada@example.net>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)',
      ),
    ],
  ),
  ...family(
    'qmail',
    ['hard mailbox suppress', 'no mailbox', viaQmail('Sorry, no mailbox here by that name. (#5.1.1)')],
    ['soft quota', 'vpopmail', viaQmail('user is over quota - (#5.1.1)')],
    [
      'soft network',
      'never connected',
      viaQmail(
        "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.",
      ),
    ],
    ['hard domain', 'no host', viaQmail("Sorry, I couldn't find any host named example.net. (#5.1.2)")],
    [
      'soft policy',
      'no relay',
      viaQmail(
        "192.0.2.5 does not like recipient.\nRemote host said: 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)\nGiving up on 192.0.2.5.",
      ),
    ],
    [
      'hard mailbox suppress',
      'the reply of another server',
      viaQmail(
        '192.0.2.5 does not like recipient.\nRemote host said: 550 5.1.1 <ada@example.net>: Email address could not be found, or was misspelled (G8)\nGiving up on 192.0.2.5.',
      ),
    ],
    [
      'soft policy',
      'failed after the message',
      viaQmail(
        '192.0.2.5 failed after I sent the message.\nRemote host said: 554 5.7.1 Message rejected, see http://spam.example.net/unknown-user',
      ),
    ],
  ),
  ...family(
    'Domino',
    [
      'hard mailbox suppress',
      'not in the directory',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: User ada (ada@example.net) not listed in Domino Directory',
        'Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  ada@example.net\n\nbecause:\n\n  User ada (ada@example.net) not listed in Domino Directory',
        fields('5.1.1', 'X-Notes; User ada (ada@example.net) not listed in Domino Directory'),
      ),
    ],
    [
      'soft mailbox',
      'several of one name',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: Recipient user name ada not unique.  Several matches found in Domino Directory.',
        'Your message was not delivered to:\n\n  ada@example.net\n\nbecause:\n\n  Recipient user name ada not unique.  Several matches found in Domino Directory.',
        fields('5.1.4', 'X-Notes; Recipient user name ada not unique.  Several matches found in Domino Directory.'),
      ),
    ],
    [
      'soft quota',
      'a quota',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: Database has exceeded its quota',
        'Your message was not delivered to:\n\n  ada@example.net\n\nbecause:\n\n  Error delivering to MAIL1/Example mail\\ada.nsf; Unable to extend an ID table - insufficient memory / database would exceed its disk quota',
        fields('5.0.0', ''),
      ),
    ],
    [
      'soft network',
      'too many hops',
      dsn(
        'From: Postmaster@example.net\nSubject: DELIVERY FAILURE: Maximum hop count exceeded.  Message probably in a routing loop.',
        'because:\n\n  Maximum hop count exceeded.  Message probably in a routing loop.',
        fields('5.4.6', 'X-Notes; Maximum hop count exceeded.  Message probably in a routing loop.'),
      ),
    ],
  ),
  ...family(
    'small servers',
    [
      'hard mailbox suppress',
      'SmarterMail',
      plain(
        'From: System Administrator <postmaster@mx.example.net>\nSubject: Delivery Failure',
        'Could not deliver message to the following recipient(s):\n\nFailed Recipient: ada@example.net\nReason: Remote host said: 550 No such user here\n\n   -- The header and top 20 lines of the message follows --\n\nReceived: from mail.example.org\nSubject: quota exceeded',
      ),
    ],
    [
      'hard mailbox suppress',
      'hMailServer',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: Message undeliverable: Hello',
        'Your message did not reach some or all of the intended recipients.\n\n   Sent: Thu, 31 Jan 2030 09:00:00 +0000\n   Subject: Hello\n\nThe following recipient(s) could not be reached:\n\nada@example.net\n   Error Type: SMTP\n   Remote server (192.0.2.5) issued an error.\n   hMailServer sent: RCPT TO:<ada@example.net>\n   Remote server replied: 550 5.1.1 User unknown\n\nhMailServer',
      ),
    ],
    [
      'soft network',
      'hMailServer, never connected',
      plain(
        'From: mailer-daemon@mx.example.net\nSubject: Message undeliverable: Hello',
        'Your message did not reach some or all of the intended recipients.\n\nThe following recipient(s) could not be reached:\n\nada@example.net\n   Error Type: SMTP\n   Error Description: No mail servers could be contacted: the connection attempt timed out.\n\nhMailServer',
      ),
    ],
    [
      'soft policy',
      'MailEnable',
      plain(
        'From: postmaster@mx.example.net\nSubject: Message Delivery Failure',
        'MailEnable: Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:ada@example.net]\n\tReason: Remote SMTP Server Returned: 550 5.7.1 Relaying to <ada@example.net> prohibited by administrator\n\nMessage headers follow:\n\nReceived: from mail.example.org',
      ),
    ],
    [
      'hard mailbox suppress',
      'CommuniGate Pro',
      dsn(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Undeliverable mail: Hello',
        "Failed to deliver to 'ada@example.net'\nSMTP module(domain example.net) reports:\n host mx2.example.net says:\n 550 5.1.1 unknown user account",
        fields('5.0.0', ''),
      ),
    ],
    [
      'hard mailbox suppress',
      'MDaemon',
      mixed(
        'From: MDaemon at mx.example.net <MDaemon@mx.example.net>\nSubject: Permanent Delivery Failure',
        textPart(
          'The attached message had PERMANENT fatal delivery errors!\n\nAfter one or more unsuccessful delivery attempts the attached message has\nbeen removed from the mail queue on this server. The number and frequency\nof delivery attempts are determined by local configuration parameters.\n\nYOUR MESSAGE WAS NOT DELIVERED TO ONE OR MORE RECIPIENTS!\n\n--------------------------------------------------------------------------\nFailed address: ada@example.net\n\n--- Session Transcript ---\n Thu 2030-01-31 09:00:01: <-- 220 mx2.example.net ESMTP\n Thu 2030-01-31 09:00:01: --> RCPT To:<ada@example.net>\n Thu 2030-01-31 09:00:01: <-- 550 5.1.1 Recipient unknown\n--- End Transcript ---',
        ),
        'Content-Type: message/rfc822\n\nSubject: mailbox full\n\nHi',
      ),
    ],
    [
      'hard mailbox suppress',
      'Courier',
      dsn(
        'From: "Courier mail server at mx.example.net" <@>\nSubject: NOTICE: mail delivery status.',
        'This is a delivery status notification from mx.example.net,\nrunning the Courier mail server, version 0.73.\n\nThe original message was received on Thu, 31 Jan 2030 09:00:00 +0000\nfrom mail.example.org (mail.example.org [192.0.2.1])\n\n---------------------------------------------------------------------------\n\n                           UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<ada@example.net>:\n    mx2.example.net [192.0.2.5]:\n>>> RCPT TO:<ada@example.net>\n<<< 550 User unknown',
        fields('5.0.0', 'smtp; 550 User unknown'),
      ),
    ],
    [
      'hard mailbox suppress',
      'Haraka',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: failure notice\nAuto-Submitted: auto-replied',
        "Hi. This is the Haraka Mailer program at mx.example.net.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\nIntended Recipients: <ada@example.net>\nFailure Reason: Some recipients failed: <ada@example.net> 550 5.1.1 user does not exist",
      ),
    ],
    [
      'soft content',
      'Maddy, whose greeting speaks of invalid addresses',
      dsn(
        'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nSubject: Undelivered Mail Returned to Sender',
        'This is the mail delivery system at mx.example.net.\n\nUnfortunately, your message could not be delivered to one or more\nrecipients. The usual cause of this problem is invalid\nrecipient address or maintenance at the recipient side.\n\nContact the postmaster for further assistance, provide the Message ID (below):\n\nMessage ID: 1\n\nDelivery to ada@example.net failed with error: 554 5.7.0 Message rejected as spam',
        fields('5.7.0', 'smtp; 554 5.7.0 Message rejected as spam'),
      ),
    ],
    [
      'hard mailbox suppress',
      'PowerMTA, status in words',
      dsn(
        'From: postmaster@mta1.example.net\nSubject: Delivery report',
        'Hello, this is the mail server on mta1.example.net.\n\nI am sending you this message to inform you on the delivery status of a\nmessage you previously sent.  Immediately below you will find a list of\nthe affected recipients;  also attached is a Delivery Status Notification\n(DSN) report in standard format, as well as the headers of the original\nmessage.\n\n  <ada@example.net>  delivery failed; will not continue trying',
        `${fields('5.1.1 (bad destination mailbox address)', 'smtp;550 sorry, no mailbox')}\nX-PowerMTA-BounceCategory: bad-mailbox`,
      ),
    ],
    [
      'soft network',
      'Kerio',
      dsn(
        'From: Mail Delivery System <postmaster@mx.example.net>\nSubject: Undeliverable mail: Hello',
        'Your message could not be delivered to the following recipients:\n\nada@example.net: Could not deliver the message in the time limit specified. Please retry or contact your administrator.',
        fields('5.4.7', ''),
      ),
    ],
    [
      'hard mailbox suppress',
      'GroupWise',
      mixed(
        'From: Mailer-Daemon@mx.example.net\nSubject: Message status - undeliverable',
        textPart(
          'The message that you sent was undeliverable to the following:\n\tada (user not found)\n\nPossibly truncated original message follows:\n\nSubject: Hello',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'Stalwart',
      dsn(
        'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Failed to deliver message',
        "Your message could not be delivered to the following recipients:\n\n<ada@example.net> (host 'mx2.example.net' rejected command 'RCPT TO:<ada@example.net>' with code 550 (5.1.1) 'Mailbox does not exist.')",
        fields('5.1.1', 'smtp;550 5.1.1 Mailbox does not exist.'),
      ),
    ],
  ),
];
