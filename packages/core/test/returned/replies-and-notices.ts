import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Messages that must not be mistaken for bounces: automatic replies in many languages, delays, authentication reports,
// complaints, receipts and notices.

const subjectOf = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
/** Builds an automatic reply as Exchange and the major clients send it, with the RFC 3834 marker. */
const marked = (subject: string, text: string) =>
  plain(
    `From: Ada <ada@example.net>\nSubject: ${subjectOf(subject)}\nAuto-Submitted: auto-replied\nContent-Type: text/plain; charset=utf-8`,
    text,
  );
/** Builds the same automatic reply without the marker, so that only the wording identifies it. */
const unmarked = (subject: string, text: string) =>
  plain(`From: Ada <ada@example.net>\nSubject: ${subjectOf(subject)}\nContent-Type: text/plain; charset=utf-8`, text);

const postmaster = 'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>';
const delayed = (subject: string, text: string, from = postmaster) =>
  plain(`${from}\nSubject: ${subjectOf(subject)}\nContent-Type: text/plain; charset=utf-8`, text);

const arf = (from: string, facts: string, text = 'This is an email abuse report.') =>
  plain(
    `From: ${from}\nSubject: FW: Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary="=_fb"`,
    `--=_fb\nContent-Type: text/plain\n\n${text}\n\n--=_fb\nContent-Type: message/feedback-report\n\n${facts}\n\n--=_fb\nContent-Type: message/rfc822\n\n${COPY}\n--=_fb--`,
  );

export const repliesAndNotices = [
  ...family(
    'absences without a mark',
    [
      'ignored',
      'German',
      unmarked('Abwesenheitsnotiz: Hello', 'Ich bin bis zum 5.5.2030 nicht im Büro. Dringendes bitte an 0550 12345.'),
    ],
    [
      'ignored',
      'French',
      unmarked('Absence du bureau Re: Hello', "Je suis absente jusqu'au 5 mai. Votre message n'a pas été transmis."),
    ],
    [
      'ignored',
      'Spanish',
      unmarked('Fuera de la oficina: Hello', 'Estaré ausente. Su mensaje no será entregado a otra persona.'),
    ],
    ['ignored', 'Italian', unmarked('Risposta automatica: Hello', 'Sono in ferie.')],
    ['ignored', 'Portuguese', unmarked('Resposta automática: Hello', 'Estou de férias.')],
    ['ignored', 'Catalan', unmarked('Resposta automàtica: Hello', 'No soc al despatx.')],
    ['ignored', 'Dutch', unmarked('Automatisch antwoord: Hello', 'Ik ben met vakantie.')],
    ['ignored', 'Swedish', unmarked('Autosvar: Hello', 'Jag är på semester.')],
    ['ignored', 'Danish', unmarked('Automatisk svar: Hello', 'Jeg er på ferie.')],
    ['ignored', 'Norwegian', unmarked('Fraværsmelding: Hello', 'Jeg er ikke på kontoret.')],
    ['ignored', 'Finnish', unmarked('Automaattinen vastaus: Hello', 'Olen lomalla.')],
    ['ignored', 'Polish', unmarked('Autoodpowiedź: Hello', 'Jestem na urlopie.')],
    ['ignored', 'Czech', unmarked('Automatická odpověď: Hello', 'Jsem na dovolené.')],
    ['ignored', 'Slovak', unmarked('Automatická odpoveď: Hello', 'Som na dovolenke.')],
    ['ignored', 'Croatian', unmarked('Automatski odgovor: Hello', 'Na godišnjem sam odmoru.')],
    ['ignored', 'Slovenian', unmarked('Samodejni odgovor: Hello', 'Sem na dopustu.')],
    ['ignored', 'Hungarian', unmarked('Automatikus válasz: Hello', 'Szabadságon vagyok.')],
    ['ignored', 'Romanian', unmarked('Răspuns automat: Hello', 'Sunt în concediu.')],
    ['ignored', 'Turkish', unmarked('Otomatik yanıt: Hello', 'İzindeyim.')],
    ['ignored', 'Greek', unmarked('Αυτόματη απάντηση: Hello', 'Λείπω.')],
    ['ignored', 'Russian', unmarked('Автоматический ответ: Hello', 'Я в отпуске.')],
    ['ignored', 'Ukrainian', unmarked('Автоматична відповідь: Hello', 'Я у відпустці.')],
    ['ignored', 'Bulgarian', unmarked('Автоматичен отговор: Hello', 'В отпуск съм.')],
    ['ignored', 'Hebrew', unmarked('תשובה אוטומטית: Hello', 'אני בחופשה.')],
    ['ignored', 'Arabic', unmarked('رد تلقائي: Hello', 'أنا في إجازة.')],
    ['ignored', 'Japanese', unmarked('自動返信: Hello', '休暇中です。')],
    ['ignored', 'Chinese', unmarked('自动答复: Hello', '我正在休假。')],
    ['ignored', 'Chinese of Taiwan', unmarked('自動回覆: Hello', '我正在休假。')],
    ['ignored', 'Korean', unmarked('자동 회신: Hello', '휴가 중입니다.')],
    ['ignored', 'Vietnamese', unmarked('Trả lời Tự động: Hello', 'Tôi đang đi nghỉ.')],
    ['ignored', 'Indonesian', unmarked('Balasan otomatis: Hello', 'Saya sedang cuti.')],
    ['ignored', 'Thai', unmarked('ตอบกลับอัตโนมัติ: Hello', 'ฉันไม่อยู่')],
    ['ignored', 'Lithuanian', unmarked('Automatinis atsakymas: Hello', 'Atostogauju.')],
    ['ignored', 'Estonian', unmarked('Automaatvastus: Hello', 'Olen puhkusel.')],
    ['ignored', 'Latvian', unmarked('Automātiska atbilde: Hello', 'Esmu atvaļinājumā.')],
  ),
  ...family(
    'automatic replies whose words mislead',
    [
      'ignored',
      'a mailbox that is given up',
      marked(
        'Re: Hello',
        'This mailbox has been disabled and your message will not be delivered. Please write to bob@example.net.',
      ),
    ],
    [
      'ignored',
      'a person who left',
      marked(
        'Automatic reply: Undelivered order',
        'Ada no longer works at Example. This e-mail address does not exist any more.',
      ),
    ],
    [
      'ignored',
      'a new address, without a mark',
      unmarked(
        'My e-mail address has changed',
        'Please note that ada@example.net is no longer in use. My new address is ada@example.com.',
      ),
    ],
    [
      'ignored',
      'an absence that quotes the code of a door',
      unmarked('Re: Hello', 'I am out of the office. In urgent cases ring 550 at the gate, or use room 5.1.1.'),
    ],
    [
      'ignored',
      'a former employee, in German and without a mark',
      unmarked(
        'Automatische Antwort: Ihre Rechnung',
        'Frau Lovelace ist nicht mehr im Unternehmen tätig. Diese Adresse wird nicht mehr gelesen.',
      ),
    ],
    [
      'ignored',
      'a help desk that made a ticket',
      plain(
        'From: Support <support@example.net>\nSubject: [Request received] Hello\nAuto-Submitted: auto-generated\nX-Auto-Response-Suppress: All',
        'Your request (550123) has been received and is being reviewed by our support staff.',
      ),
    ],
    [
      'ignored',
      'a help desk without a mark',
      plain(
        'From: Support <support@example.net>\nSubject: Ticket Received - Hello',
        'A request for support has been created and assigned #5501.',
      ),
    ],
    [
      'ignored',
      'a German help desk without a mark',
      unmarked('Ihre Anfrage [#4711] ist eingegangen', 'Vielen Dank für Ihre Nachricht. Wir melden uns.'),
    ],
    [
      'ignored',
      'an unread mailbox',
      unmarked('Re: Hello', 'This is an automated message. This mailbox is not monitored, and your mail was not read.'),
    ],
    [
      'ignored',
      'a subscription to confirm',
      plain(
        'From: list-confirm@list.example\nSubject: confirm 1a2b3c\nPrecedence: bulk',
        'Please reply to this message to confirm your subscription.',
      ),
    ],
  ),
  ...family(
    'delays',
    [
      'delay',
      'Postfix',
      dsn(
        `${postmaster}\nSubject: Delayed Mail (still being retried)\nAuto-Submitted: auto-replied`,
        '####################################################################\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####################################################################\n\nYour message could not be delivered for more than 4 hour(s).\nIt will be retried until it is 5 day(s) old.\n\n<ada@example.net>: connect to mx2.example.net[192.0.2.5]:25: Connection refused',
        fields('4.4.1', 'X-Postfix; connect to mx2.example.net[192.0.2.5]:25: Connection refused', 'delayed'),
      ),
    ],
    [
      'delay',
      'sendmail, without fields',
      delayed(
        'Warning: could not send message for past 4 hours',
        '    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\nThe original message was received at Thu, 31 Jan 2030 05:00:00 GMT\n\n   ----- Transcript of session follows -----\n<ada@example.net>... Deferred: Connection timed out with mx2.example.net.\nWarning: message still undelivered after 4 hours\nWill keep trying until message is 5 days old',
      ),
    ],
    [
      'delay',
      'Exim',
      plain(
        `${postmaster}\nSubject: Warning: message 1abcde-00 delayed 24 hours\nAuto-Submitted: auto-replied`,
        'This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mx.example.net.\n\nThe address to which the message has not yet been delivered is:\n\n  ada@example.net\n    Delay reason: SMTP error from remote mail server after RCPT TO: 451 4.7.1 greylisted\n\nNo action is required on your part. Delivery attempts will continue for\nsome time, and this warning may be repeated at intervals if the message\nremains undelivered. Eventually the mail delivery software will give up,\nand when that happens, the message will be returned to you.',
      ),
    ],
    [
      'delay',
      'Gmail, its text alone',
      delayed(
        'Delivery Status Notification (Delay)',
        "** Delivery incomplete **\n\nThere was a temporary problem delivering your message to ada@example.net. Gmail will retry for 46 more hours. You'll be notified if the delivery fails permanently.\n\nThe response was:\n\nThe recipient server did not accept our requests to connect.",
        'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      ),
    ],
    [
      'delay',
      'Exchange',
      dsn(
        'From: Microsoft Outlook <postmaster@example.net>\nSubject: Delivery delayed: Hello',
        'Delivery to these recipients or groups has been delayed:\n\nada@example.net\nSubject: Hello\n\nThis message has not yet been delivered. Microsoft Exchange will continue to try delivering the message on your behalf.',
        fields('4.4.7', '', 'delayed'),
      ),
    ],
    [
      'delay',
      'French Exchange, its text alone',
      delayed(
        'Remise différée : Hello',
        "La remise de ce message à ces destinataires a été retardée :\n\nada@example.net\n\nCe message n'a pas encore été remis. La remise continuera à être tentée pendant 1 jour.",
        'From: Microsoft Outlook <postmaster@example.net>',
      ),
    ],
    [
      'delay',
      'German Exchange, its text alone',
      delayed(
        'Zustellung verzögert: Hello',
        'Verzögerung bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\nada@example.net\n\nDiese Nachricht wurde noch nicht zugestellt. Es wird weiterhin versucht, die Nachricht zuzustellen.',
        'From: Microsoft Outlook <postmaster@example.net>',
      ),
    ],
    [
      'delay',
      'Spanish Exchange, its text alone',
      delayed(
        'Entrega retrasada: Hello',
        'La entrega a estos destinatarios o grupos se ha retrasado:\n\nada@example.net\n\nEste mensaje aún no se ha entregado. Se seguirá intentando entregarlo.',
        'From: Microsoft Outlook <postmaster@example.net>',
      ),
    ],
    [
      'delay',
      'Yandex',
      delayed(
        'Письмо задерживается',
        'Это письмо отправлено почтовым сервером yandex.ru.\n\nВаше письмо пока не удалось доставить получателю ada@example.net. Попытки доставки будут продолжены в течение 24 часов. Повторно отправлять письмо не нужно.',
      ),
    ],
    [
      'delay',
      'MDaemon',
      delayed(
        'Warning - delayed mail',
        'The attached message has been delayed. It could not be delivered to ada@example.net so far. This server will continue trying for 60 more hours. You do not need to resend it.',
        'From: MDaemon at mx.example.net <MDaemon@mx.example.net>',
      ),
    ],
    [
      'delay',
      'PowerMTA',
      dsn(
        'From: postmaster@mta1.example.net\nSubject: Delivery report',
        'Hello, this is the mail server on mta1.example.net.\n\n  <ada@example.net>  delivery delayed; will continue trying',
        fields('4.4.1 (no answer from host)', '', 'delayed'),
      ),
    ],
    [
      'delay',
      'qmail-notify',
      delayed(
        'Delayed mail',
        'Hi. This is the mail system at mx.example.net.\nThe message attached below still has not been delivered to: ada@example.net.\nI will keep trying for 5 days. This is only a warning.',
      ),
    ],
    [
      'delay',
      'Chinese',
      delayed(
        '邮件投递延迟通知',
        '您发给 ada@example.net 的邮件暂时未能送达，系统将继续尝试投递，您无需重新发送。',
        'From: postmaster@mail.example.net',
      ),
    ],
    [
      'delay',
      'Italian',
      delayed(
        'Avviso: recapito in ritardo',
        'Il messaggio non è stato ancora recapitato a ada@example.net. Verrà ritentato per altri 2 giorni. Non è necessario inviarlo di nuovo.',
        'From: postmaster@mail.example.net',
      ),
    ],
    [
      'soft network',
      'the end of a delay',
      delayed(
        'Undeliverable: message delayed too long',
        'Your message to ada@example.net was delayed and could not be delivered for 5 days. It has been removed from the queue; no further attempts will be made.\n\nLast error: connection timed out',
      ),
    ],
  ),
  ...family(
    'reports about authentication',
    [
      'ignored',
      'DMARC, aggregated',
      mixed(
        'From: noreply-dmarc-support@google.com\nSubject: Report domain: example.org Submitter: google.com Report-ID: 550123',
        'Content-Type: application/zip; name="google.com!example.org!1!2.zip"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment\n\nUEsDBAoAAAAIAA==',
      ),
      'noreply-dmarc-support@google.com',
    ],
    [
      'ignored',
      'DMARC, aggregated, from the null sender',
      mixed(
        'From: DMARC Aggregate Report <dmarcreport@microsoft.com>\nSubject: Report Domain: example.org Submitter: enterprise.protection.outlook.com Report-ID: 1',
        textPart('This is a DMARC aggregate report from Microsoft Corporation.'),
        'Content-Type: application/gzip; name="a.xml.gz"\nContent-Transfer-Encoding: base64\n\nH4sIAAAAAAAA',
      ),
    ],
    [
      'ignored',
      'DMARC, the attachment alone, from the null sender',
      plain(
        'From: postmaster@dmarc.yahoo.com\nSubject: Report Domain: example.org Submitter: yahoo.com Report-ID: <1>\nMIME-Version: 1.0\nContent-Type: application/gzip; name="yahoo.com!example.org!1!2.xml.gz"\nContent-Transfer-Encoding: base64',
        'H4sIAAAAAAAA',
      ),
    ],
    [
      'ignored',
      'DMARC, one failure',
      arf(
        'dmarc-noreply@linkedin.com',
        'Feedback-Type: auth-failure\nUser-Agent: Lua/1.0\nVersion: 1\nOriginal-Mail-From: <b+0@example.org>\nAuth-Failure: dmarc\nIdentity-Alignment: none',
      ),
    ],
    [
      'ignored',
      'TLS, from the null sender',
      plain(
        'From: noreply-smtp-tls-reporting@google.com\nSubject: Report Domain: example.org Submitter: google.com Report-ID: <2030.01.31T00.00.00Z@google.com>\nTLS-Report-Domain: example.org\nTLS-Report-Submitter: google.com\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type="tlsrpt"; boundary=tls',
        '--tls\nContent-Type: text/plain\n\nThis is an aggregate TLS report from google.com. Total failure count: 550\n\n--tls\nContent-Type: application/tlsrpt+gzip\nContent-Transfer-Encoding: base64\n\nH4sIAAAAAAAA\n--tls--',
      ),
    ],
  ),
  ...family(
    'complaints',
    [
      'complaint',
      'Yahoo',
      arf(
        'Yahoo Complaints <feedback@arf.mail.yahoo.com>',
        'Feedback-Type: abuse\nUser-Agent: Yahoo!-Mail-Feedback/2.0\nVersion: 0.1\nOriginal-Mail-From: <b+0@example.org>\nOriginal-Rcpt-To: ada@example.net\nReported-Domain: example.org',
      ),
      'feedback@arf.mail.yahoo.com',
    ],
    [
      'complaint',
      'Mail.ru',
      arf(
        'abuse@corp.mail.ru',
        'Feedback-Type: abuse\nUser-Agent: Mail.Ru Abuse Reporter/1.0\nVersion: 1',
        'Пользователь пожаловался на письмо.',
      ),
      'abuse@corp.mail.ru',
    ],
    [
      'complaint',
      'Comcast, a request to leave the list',
      arf('feedback@fbl.comcast.example', 'Feedback-Type: opt-out\nUser-Agent: ReturnPathFBL/2.0\nVersion: 1'),
    ],
    [
      'complaint',
      'Outlook.com, whose text speaks of a failed delivery',
      arf(
        'staff@hotmail.com',
        'Feedback-Type: abuse\nUser-Agent: Microsoft-JMRP/1.0\nVersion: 1',
        'The message could not be delivered to the inbox because the user reported it.',
      ),
    ],
  ),
  ...family(
    'receipts and notices',
    [
      'ignored',
      'relayed by Postfix',
      dsn(
        `${postmaster}\nSubject: Successful Mail Delivery Report`,
        'Your message was successfully delivered to the destination(s)\nlisted below. If the message was delivered to mailbox you will\nreceive no further notifications. Otherwise you may still receive\nnotifications of mail delivery errors from other systems.\n\n<ada@example.net>: delivery via mx2.example.net[192.0.2.5]:25: 250 2.0.0 Ok',
        fields('2.0.0', 'smtp; 250 2.0.0 Ok', 'relayed'),
      ),
    ],
    [
      'ignored',
      'relayed by Exchange, its text alone',
      plain(
        'From: Microsoft Outlook <postmaster@example.net>\nSubject: Relayed: Hello',
        'Delivery to these recipients or groups is complete, but no delivery notification was sent by the destination server:\n\nada@example.net',
      ),
    ],
    [
      'ignored',
      'read, in German',
      plain(
        'From: Ada <ada@example.net>\nSubject: Gelesen: Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=disposition-notification; boundary=r',
        '--r\nContent-Type: text/plain\n\nIhre Nachricht wurde gelesen.\n\n--r\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; ada@example.net\nDisposition: automatic-action/MDN-sent-automatically; deleted\n\n--r--',
      ),
    ],
    [
      'ignored',
      'kept by Mimecast for a reviewer',
      plain(
        'From: postmaster@example.net\nSubject: [Postmaster] Messages on hold for review',
        'Your message to ada@example.net is being held for review by an administrator.',
      ),
    ],
    [
      'ignored',
      'an answer that quotes the mail, from a person',
      mixed(
        'From: Ada <ada@example.net>\nSubject: Re: Undeliverable parcel',
        textPart('Thanks, it was delivered at last.\n\n> 550 5.1.1 User unknown'),
        copyPart,
      ),
      'ada@example.net',
    ],
  ),
];
