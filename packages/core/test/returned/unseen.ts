import { copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// These messages were written and labeled before the rules were run on them, so that they measure how the rules perform
// on unseen messages.

const daemon =
  'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nSubject: Undelivered Mail Returned to Sender';
/** Returns a reply as the title of a fixture and as Postfix reports it. */
const quoted = (reply: string, command = 'RCPT TO') =>
  [
    reply,
    dsn(
      daemon,
      `<ada@example.net>: host mx2[192.0.2.5] said: ${reply} (in reply to ${command} command)`,
      fields(/[45]\.\d+\.\d+/.exec(reply)?.[0] ?? '5.0.0', `smtp; ${reply}`),
    ),
  ] as const;
const person = (subject: string, text: string) =>
  plain(
    `From: Ada <ada@example.net>\nSubject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=\nContent-Type: text/plain; charset=utf-8`,
    text,
  );

export const unseen = [
  ...family(
    'replies',
    ['hard mailbox suppress', ...quoted('550 5.1.1 RCPT TO:<ada@example.net> User unknown')],
    ['hard mailbox suppress', ...quoted('550 <ada@example.net> No such user here')],
    ['hard mailbox suppress', ...quoted('553 5.3.0 <ada@example.net>... Addressee unknown, relay=[192.0.2.1]')],
    ['hard mailbox suppress', ...quoted('550 5.1.0 Address rejected ada@example.net')],
    ['soft policy', ...quoted('550 Mailbox not found or access denied')],
    ['hard mailbox suppress', ...quoted('550 5.7.1 Invalid recipient <ada@example.net>')],
    ['hard mailbox suppress', ...quoted('501 5.1.3 Bad recipient address syntax')],
    ['hard mailbox suppress', ...quoted('550-5.1.1 The email account that you tried to reach does not exist.')],
    [
      'hard mailbox suppress',
      ...quoted('550 5.1.1 <ada@example.net>: Recipient address rejected: this mailbox has been deleted'),
    ],
    ['hard mailbox suppress', ...quoted('550 5.1.1 sorry, no mailbox here by that name (#5.1.1 - chkuser)')],
    ['hard mailbox suppress', ...quoted('550 5.1.1 Recipient not found. <http://x.co/irbounce>')],
    ['hard mailbox suppress', ...quoted('554 5.1.1 unknown user ada')],
    ['hard mailbox suppress', ...quoted('550 No mailbox by that name is currently available')],
    ['hard mailbox suppress', ...quoted('550 5.1.1 Unknown local part ada in <ada@example.net>')],
    ['hard mailbox suppress', ...quoted("550 5.4.300 Recipient's mailbox doesn't exist")],
    [
      'soft quota',
      ...quoted('552 5.2.2 The mailbox of the recipient is full, or this message is larger than the limit.'),
    ],
    ['soft quota', ...quoted("422 The recipient's mailbox is over its storage limit")],
    ['soft quota', ...quoted('554 5.2.2 STOREDRV.Deliver; mailbox full')],
    ['soft quota', ...quoted('452 4.2.2 <ada@example.net>: Der Posteingang ist voll')],
    ['soft quota', ...quoted('552 5.2.2 Le quota de la boîte est dépassé')],
    ['soft quota', ...quoted('550 5.7.1 The user has exceeded their mailbox quota')],
    ['soft mailbox', ...quoted('550 5.2.1 This account has been disabled or discontinued')],
    ['soft mailbox', ...quoted('550 5.1.1 The account ada is locked')],
    ['soft mailbox', ...quoted('554 5.7.1 The mailbox is inactive due to non-use')],
    ['soft content', ...quoted('554 5.6.1 Message rejected: body contains a blacklisted URL', 'end of DATA')],
    ['soft content', ...quoted('552 5.3.4 Message size exceeds fixed limit')],
    ['soft content', ...quoted('550 5.7.1 Message contains spam or virus', 'end of DATA')],
    [
      'soft reputation',
      ...quoted(
        '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
      ),
    ],
    ['soft reputation', ...quoted('550 5.7.1 Mail from IP 192.0.2.1 was rejected due to listing in Spamhaus PBL')],
    [
      'soft reputation',
      ...quoted('421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1'),
    ],
    ['soft reputation', ...quoted('554 Your IP (192.0.2.1) has a poor reputation. Access denied for unknown users.')],
    [
      'soft authentication',
      ...quoted(
        '550 5.7.23 The message was rejected because of Sender Policy Framework violation -> 550 5.7.1 recipient unknown',
      ),
    ],
    ['soft authentication', ...quoted('550-5.7.1 Forged HELO: you are not example.org')],
    ['soft policy', ...quoted('550 5.7.1 TLS is required for this recipient')],
    [
      'soft policy',
      ...quoted('554 5.7.1 <ada@example.net>: Recipient address rejected: Access denied for your network'),
    ],
    ['soft policy', ...quoted('550 5.7.1 Message rejected due to user rules')],
    ['soft network', ...quoted('451 4.3.0 Temporary lookup failure for user ada')],
    ['soft network', ...quoted('451 4.3.2 Internal server error; user unknown to cache')],
    [
      'soft throttled',
      ...quoted('421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address. '),
    ],
    ['hard domain', ...quoted('550 5.1.2 The domain example.net does not exist')],
    ['hard domain', ...quoted('550 5.1.2 Bad destination host: no MX and no A record')],
  ),
  ...family(
    'shapes',
    [
      'hard mailbox suppress',
      'html only',
      plain(
        'From: Mail Delivery Subsystem <mailer-daemon@example.net>\nSubject: Delivery failed\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8',
        '<html><body><h2>Delivery failed</h2><p>Sorry, we could not deliver your message to <b>ada@example.net</b>.</p><pre>550 5.1.1 User unknown</pre></body></html>',
      ),
    ],
    [
      'hard mailbox suppress',
      'two recipients in text, ours second',
      plain(
        daemon,
        'This is the mail system.\n\n<bob@example.net>: mailbox full\n\n<ada@example.net>: unknown user: "ada"',
      ),
    ],
    [
      'soft quota',
      'two recipients in text, ours first',
      plain(
        daemon,
        'This is the mail system.\n\n<ada@example.net>: mailbox is full\n\n<bob@example.net>: unknown user: "bob"',
      ),
    ],
    [
      'hard mailbox suppress',
      'forwarded by an alias',
      dsn(
        daemon,
        '<ada.l@other.example> (expanded from <ada@example.net>): host x said: 550 5.1.1 User unknown',
        'Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; ada.l@other.example\nOriginal-Recipient: rfc822;ada@example.net\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown',
      ),
    ],
    [
      'ignored',
      'two groups, ours delivered',
      dsn(
        daemon,
        'text',
        'Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; bob@example.net\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: rfc822; ada@example.net\nAction: delivered\nStatus: 2.0.0',
      ),
    ],
    [
      'soft other',
      'nothing but a sentence',
      plain('From: <>\nSubject: Mail not delivered', 'Your message was not delivered.'),
    ],
    [
      'hard mailbox suppress',
      'attachment txt',
      mixed(
        'From: postmaster@example.net\nSubject: Undeliverable',
        textPart('Your mail could not be delivered. See the attachment.'),
        'Content-Type: text/plain; name=report.txt\nContent-Disposition: attachment\n\n550 5.1.1 <ada@example.net> User unknown',
        copyPart,
      ),
    ],
    [
      'hard mailbox suppress',
      'base64 dsn',
      plain(
        `${daemon}\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b`,
        `--b\nContent-Type: text/plain\n\nFailed.\n--b\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n${Buffer.from('Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; ada@example.net\nAction: failed\nStatus: 5.1.1\n').toString('base64')}\n--b--`,
      ),
    ],
    [
      'hard mailbox suppress',
      'utf-8 global',
      plain(
        `${daemon}\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b`,
        `--b\nContent-Type: text/plain; charset=utf-8\n\nFailed.\n--b\nContent-Type: message/global-delivery-status\n\nReporting-MTA: dns; mx\n\nFinal-Recipient: utf-8; ada@example.net\nAction: failed\nStatus: 5.1.1\n\n--b\nContent-Type: message/global-headers\n\nSubject: full mailbox\n--b--`,
      ),
    ],
    [
      'soft network',
      'expired 5.4.7',
      dsn(daemon, 'delivery expired', fields('5.4.7', 'smtp; 550 5.4.7 Delivery expired (message too old) timeout')),
    ],
    [
      'hard mailbox suppress',
      'Notes text',
      plain(
        'From: postmaster@example.net\nSubject: DELIVERY FAILURE: 550 5.1.1 User unknown',
        'Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  ada@example.net\n\nbecause:\n\n  550 5.1.1 User unknown',
      ),
    ],
    [
      'soft policy',
      'SRS/forward loop',
      plain(daemon, '<ada@example.net>: This message was rejected because you are not a member of the group'),
    ],
  ),
  ...family(
    'replies of people',
    [
      'ignored',
      'ooo with signature',
      person(
        'Re: Your receipt',
        'Hi,\nI am currently out of the office with no access to email.\n\nAda\nTel. 550 5100',
      ),
    ],
    [
      'ignored',
      'out until',
      person('Hello', "Thanks for your mail! I'm away until Monday and will reply when I'm back."),
    ],
    [
      'ignored',
      'maternity',
      person('RE: Hello', 'I am now on maternity leave. Please contact my colleague at bob@example.net'),
    ],
    [
      'ignored',
      'job change',
      person('Automatic reply: Hello', 'I have left Example Ltd. My mailbox is no longer monitored.'),
    ],
    [
      'ignored',
      'FR',
      person('RE: Hello', "Bonjour, je suis en congés jusqu'au 15 août. Je vous répondrai à mon retour."),
    ],
    ['ignored', 'DE', person('AW: Hello', 'Vielen Dank für Ihre E-Mail. Ich bin vom 1. bis 15. August im Urlaub.')],
    [
      'ignored',
      'JP',
      person('Re: Hello', 'お問い合わせありがとうございます。本日は休業日のため、翌営業日にご返信いたします。'),
    ],
    [
      'ignored',
      'ES',
      person('RV: Hello', 'Gracias por su mensaje. Actualmente estoy de vacaciones y regreso el lunes.'),
    ],
    [
      'ignored',
      'spam challenge',
      person('Verify your email to ada', 'Please click the link to confirm that you sent this message.'),
    ],
    ['ignored', 'thanks bot', person('Thank you for contacting Example', 'We received your message.')],
    [
      'ignored',
      'voicemail',
      person('Danke für Ihre Nachricht', 'Wir haben Ihre Nachricht erhalten und melden uns in Kürze.'),
    ],
    ['ignored', 'no-reply mailbox', person('Re: Hello', 'This inbox is not monitored. Please visit our help center.')],
  ),
];
