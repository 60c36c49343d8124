import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Mailing lists, complaints, automatic replies, acknowledgements, receipts and people.

const complaint = (type: string, headers = 'From: fbl@isp.example\nSubject: FW: Hello') =>
  plain(
    `${headers}\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=feedback-report; boundary=fb`,
    `--fb\nContent-Type: text/plain\n\nThis is an email abuse report for an email message received from IP 192.0.2.1.\n\n--fb\nContent-Type: message/feedback-report\n\nFeedback-Type: ${type}\nUser-Agent: Loop/2.0\nVersion: 1\nOriginal-Mail-From: <b+0@example.org>\n\n--fb\nContent-Type: message/rfc822\n\n${COPY}\n--fb--`,
  );

export const notBounces = [
  ...family(
    'mailing lists',
    [
      'soft policy',
      'fml',
      plain(
        'From: fml-request@list.example\nSubject: NOT MEMBER article from hello@example.org\nPrecedence: bulk\nX-MLServer: fml',
        'Hi, I am the fml mail-list manager.\n\nYou are not member of this ML <ada@example.net>.\nWe reject your mail.',
      ),
    ],
    [
      'soft policy',
      'Mailman',
      plain(
        'From: list-owner@list.example\nSubject: Your message to list rejected\nPrecedence: bulk\nAuto-Submitted: auto-generated',
        'You are not allowed to post to this mailing list, and your message has been automatically rejected.',
      ),
    ],
    [
      'soft policy',
      'members only',
      plain(
        'From: Mail Delivery System <postmaster@list.example>\nSubject: Rejected posting to LIST@LIST.EXAMPLE',
        'You are not authorized to send mail to the LIST list from your hello@example.org account. ada@example.net is a members-only list.',
      ),
    ],
    [
      'ignored',
      'waits for a moderator',
      plain(
        'From: list-bounces@list.example\nSubject: Your message to List awaits moderator approval\nPrecedence: bulk\nAuto-Submitted: auto-generated',
        "Your mail to 'List' with the subject\n\n    Hello\n\nIs being held until the list moderator can review it for approval.",
      ),
    ],
  ),
  ...family(
    'complaints',
    ['complaint', 'ARF', complaint('abuse'), 'fbl@isp.example'],
    ['complaint', 'ARF of the null sender', complaint('fraud')],
    [
      'complaint',
      'Hotmail',
      mixed('From: staff@hotmail.example\nSubject: complaint about message from 192.0.2.1', copyPart),
      'staff@hotmail.example',
    ],
    [
      'complaint',
      'Hotmail, with a text',
      mixed(
        'From: staff@hotmail.example\nSubject: Complaint about message from 192.0.2.1',
        textPart('The user reported this.'),
        copyPart,
      ),
      'staff@hotmail.example',
    ],
    ['complaint', 'a broken boundary', complaint('abuse').replaceAll('\n--fb', '\n --fb')],
    ['ignored', 'not-spam', complaint('not-spam')],
    ['ignored', 'a failure of authentication', complaint('auth-failure')],
  ),
  ...family(
    'automatic replies',
    [
      'ignored',
      'out of office',
      plain(
        'From: Ada <ada@example.net>\nSubject: Automatic reply: Hello\nAuto-Submitted: auto-generated\nX-Auto-Response-Suppress: All',
        'I am out of the office until Monday. In urgent cases call 555 0100.',
      ),
    ],
    [
      'ignored',
      'a vacation program',
      plain(
        'From: ada@example.net\nSubject: Re: Hello\nPrecedence: bulk\nAuto-Submitted: auto-replied (vacation)',
        'I am on vacation and will return on 4.5.2030. Your mail will not be delivered to another address.',
      ),
    ],
    [
      'ignored',
      'without any mark',
      plain('From: Ada <ada@example.net>\nSubject: Re: Hello', 'I am out of the office until Monday, 550 km away.'),
    ],
    [
      'ignored',
      'without a mark and with a subject of its own',
      plain(
        'From: Ada <ada@example.net>\nSubject: Hello',
        'Ich bin derzeit im Urlaub und lese meine Mail ab dem 5. wieder.',
      ),
    ],
    [
      'ignored',
      'a subject in French',
      plain('From: ada@example.net\nSubject: =?utf-8?Q?R=C3=A9ponse_automatique_:_Hello?=', 'Je suis absente.'),
    ],
    [
      'ignored',
      'a subject in Japanese',
      plain('From: ada@example.net\nSubject: =?utf-8?B?5LiN5Zyo44Gu44GK55+l44KJ44Gb?=', '...'),
    ],
    [
      'ignored',
      'a subject in Spanish',
      plain(
        'From: ada@example.net\nSubject: Respuesta automática: Hello\nContent-Type: text/plain; charset=utf-8',
        'Estaré fuera de la oficina.',
      ),
    ],
    [
      'ignored',
      'a subject in Polish',
      plain('From: ada@example.net\nSubject: =?utf-8?Q?Odpowied=C5=BA_automatyczna:_Hello?=', 'x'),
    ],
    [
      'ignored',
      'a subject in Russian',
      plain('From: ada@example.net\nSubject: =?utf-8?B?0JDQstGC0L7QvtGC0LLQtdGC?=', 'x'),
    ],
    [
      'ignored',
      'a subject in Chinese',
      plain('From: ada@example.net\nSubject: =?utf-8?B?6Ieq5Yqo5Zue5aSNOiBIZWxsbw==?=', 'x'),
    ],
    [
      'ignored',
      'a help desk',
      plain(
        'From: Support <support@example.net>\nSubject: [Ticket #4711] We have received your request\nAuto-Submitted: auto-replied',
        'Thank you for contacting us.',
      ),
    ],
    [
      'ignored',
      'a help desk without a mark',
      plain('From: Support <support@example.net>\nSubject: Thank you for your message', 'We will answer soon.'),
    ],
    [
      'ignored',
      'an address that is no longer in use',
      plain(
        'From: Ada <ada@example.net>\nSubject: Re: Hello\nAuto-Submitted: auto-replied',
        'This address is no longer in use; please write to bob@example.net instead.',
      ),
    ],
    [
      'ignored',
      'a challenge',
      plain(
        'From: Ada <ada@example.net>\nSubject: Re: Hello',
        'Please click on the link below to verify that you are a person. Then your message will be delivered.',
      ),
    ],
  ),
  ...family(
    'receipts and successes',
    [
      'ignored',
      'read',
      plain(
        'From: Ada <ada@example.net>\nSubject: Read: Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=disposition-notification; boundary=r',
        '--r\nContent-Type: text/plain\n\nYour message was read.\n\n--r\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; ada@example.net\nDisposition: manual-action/MDN-sent-manually; displayed\n\n--r--',
      ),
    ],
    [
      'ignored',
      'delivered',
      dsn(
        'From: postmaster@example.net\nSubject: Delivery Status Notification (Success)',
        'Your message has been delivered to the following recipients: ada@example.net',
        fields('2.0.0', '', 'delivered'),
      ),
    ],
    [
      'ignored',
      'a text',
      plain(
        'From: postmaster@example.net\nSubject: Delivered: Hello',
        'Your message was delivered to the following recipients:\n\nada@example.net',
      ),
    ],
    [
      'ignored',
      'expanded',
      dsn(
        'From: postmaster@example.net\nSubject: Delivery Status Notification (Expanded)',
        'The list was expanded.',
        fields('2.0.0', '', 'expanded'),
      ),
    ],
  ),
  ...family(
    'people',
    [
      'ignored',
      'an answer',
      plain('From: Ada <ada@example.net>\nSubject: Re: Hello', 'Thanks! Call me at 555 0100. My old mailbox is full.'),
      'ada@example.net',
    ],
    [
      'ignored',
      'a question about a bounce',
      plain(
        'From: Ada <ada@example.net>\nSubject: Undelivered mail?',
        'I got 550 5.1.1 User unknown from you, what is that?\n\n> Final-Recipient: rfc822; ada@example.net',
      ),
      'ada@example.net',
    ],
    [
      'ignored',
      'an answer with the null sender',
      plain('From: Ada <ada@example.net>\nSubject: Re: Hello\nIn-Reply-To: <1@example.org>', 'Thanks!'),
    ],
    [
      'ignored',
      'a mail of a shop',
      plain(
        'From: Other Shop <news@shop.example>\nSubject: Your delivery has been shipped',
        'Your parcel could not be delivered yesterday.',
      ),
      'news@shop.example',
    ],
  ),
  ...family(
    'anything else',
    ['soft other', 'from the null sender, unmarked', plain('From: <>\nSubject: Sorry', 'It did not work.')],
    [
      'soft other',
      'from a daemon that is not the null sender',
      plain('From: Mail Delivery System <mailer-daemon@mx.example.net>\nSubject: Sorry', 'It did not work.'),
      'mailer-daemon@mx.example.net',
    ],
    [
      'hard mailbox',
      'an unknown user without a sign of a mail system is not suppressed',
      plain('From: Info <info@mx.example.net>\nSubject: Hello', 'ada@example.net\n550 5.1.1 User unknown'),
    ],
    ['soft other', 'a subject alone', plain('Subject: Undeliverable', '')],
  ),
];
