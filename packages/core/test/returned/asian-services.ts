import { COPY, copyPart, dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Carriers and providers in Japan, China and Korea. Text in their languages is encoded as they send it.

const japanese = (headers: string, hex: string, rest: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${headers}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=iso-2022-jp\nContent-Transfer-Encoding: 7bit\n\n`.replace(
        /\n/g,
        '\r\n',
      ),
    ),
    // ISO 2022-JP: the switch to JIS X 0208, two bytes per character, and the switch back.
    Buffer.from(`\x1b$B${Buffer.from(hex, 'hex').toString('latin1')}\x1b(B`, 'latin1'),
    Buffer.from(`\r\n\r\n${rest}\r\n`.replace(/(?<!\r)\n/g, '\r\n')),
  ]);
const ezweb = 'From: Postmaster@ezweb.example\nSubject: Mail System Error - Returned Mail';
const inBase64 = (text: string) => Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n');
const chinese = (headers: string, html: string) =>
  plain(
    `${headers}\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64`,
    inBase64(html),
  );

export const asianServices = [
  ...family(
    'EZweb and KDDI',
    [
      'hard mailbox suppress',
      'a user that does not exist',
      plain(ezweb, `The user(s) <ada@example.net> does not exist.\n\n${COPY}`),
    ],
    [
      'soft mailbox',
      'a disabled account',
      plain(ezweb, `The user(s) account is disabled.\n\n<ada@example.net>\n\n${COPY}`),
    ],
    [
      'hard mailbox suppress',
      'a dialogue',
      mixed(
        ezweb,
        textPart(
          'Each of the following recipients was rejected by a remote mail server.\nThe reasons given by the server are included to help you determine why\neach recipient was rejected.\n\n    Recipient: <ada@example.net>\n    >>> RCPT TO:<ada@example.net>\n    <<< 550 <ada@example.net>: User unknown',
        ),
        copyPart,
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: no-reply@app.auone-net.example\nSubject: Mail could not be delivered',
        'Your mail sent on: Thu, 31 Jan 2030 09:00:00 +0900\n    Could not be delivered to: <ada@example.net>\n    As their mailbox is full.\n\n'.concat(
          COPY,
        ),
      ),
    ],
    [
      'hard domain',
      'no domain',
      plain(
        'From: Mail Delivery System <postmaster@kddi.example>\nSubject: Delivery failed',
        'Your mail sent on: Thu, 31 Jan 2030 09:00:00 +0900\n    Could not be delivered to: <ada@example.net>\n    As the remote domain doesnt exist.',
      ),
    ],
    [
      'soft network',
      'not collected',
      plain(
        ezweb,
        'The following recipients did not receive this message:\n\n    <ada@example.net>\n\nMessage could not be delivered for 3 days',
      ),
    ],
  ),
  ...family(
    'Biglobe',
    [
      'soft quota',
      'a full mailbox',
      plain(
        'From: postmaster@biglobe.example\nSubject: Returned mail:\nX-Loop: 1',
        `   ----- The following addresses had delivery problems -----
********@biglobe.example

   ----- Non-delivered information -----
The number of messages in recipient's mailbox exceeded the local limit.

${COPY}`,
      ),
    ],
    [
      'hard mailbox suppress',
      'an unknown user',
      plain(
        'From: postmaster@biglobe.example\nSubject: Returned mail:',
        `   ----- The following addresses had delivery problems -----
ada@example.net

   ----- Non-delivered information -----
User unknown.

${COPY}`,
      ),
    ],
    [
      'soft content',
      'too large',
      plain(
        'From: postmaster@inacatv.example\nSubject: Returned mail:',
        '   ----- The following addresses had delivery problems -----\nada@example.net\n\n   ----- Non-delivered information -----\nMessage size exceeds the maximum message size.\n',
      ),
    ],
  ),
  ...family(
    'ActiveHunter',
    [
      'hard mailbox suppress',
      'a report without fields',
      plain(
        'From: MAILER-DAEMON <postmaster@mx.example.net>\nSubject: FAILURE NOTICE : Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b',
        `--b
Content-Type: text/plain; charset=us-ascii

  ----- The following addresses had permanent fatal errors -----

>>> ada@example.net <ada@example.net>

  ----- Transcript of session follows -----
550 sorry, no mailbox here by that name (#5.1.1 - chkusr)

--b
Content-Type: message/rfc822

${COPY}
--b--`,
      ),
    ],
    [
      'soft quota',
      'without MIME',
      plain(
        'From: MAILER-DAEMON <postmaster@mx.example.net>\nSubject: FAILURE NOTICE : Hello',
        '  ----- The following addresses had permanent fatal errors -----\n\n>>> ada@example.net <ada@example.net>\n\n  ----- Transcript of session follows -----\n552 5.2.2 Mailbox full\n',
      ),
    ],
    [
      'hard mailbox suppress',
      'a report without groups',
      plain(
        'From: MAILER-DAEMON <postmaster@mx.example.net>\nSubject: FAILURE NOTICE : Hello\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b',
        '--b\n\n550 Unknown user ada@example.net\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\n--b--',
      ),
    ],
  ),
  ...family(
    'X1 to X6',
    [
      'hard mailbox suppress',
      'X1',
      plain(
        'From: "Mail Deliver System" <postmaster@mx.example.net>\nSubject: Returned Mail: Hello',
        `The original message was received at Thu, 31 Jan 2030 09:00:00 +0900
from b+0@example.org

---The following addresses had delivery errors---

ada@example.net [User unknown]

${COPY}`,
      ),
    ],
    [
      'hard mailbox suppress',
      'X2',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Delivery failure',
        `Message from example.net.
Unable to deliver message to the following address(es).

<ada@example.net>:
This user doesn't have a example.net account (ada@example.net) [0]

--- Original message follows.

${COPY}`,
      ),
    ],
    [
      'soft quota',
      'X2, a full mailbox',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: failure delivery',
        'Unable to deliver message to the following address(es).\n\n<ada@example.net>:\nThe user(s) mailbox is full\n\n--- Original message follows.\n',
      ),
    ],
    [
      'hard mailbox suppress',
      'X3',
      plain(
        'From: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nSubject: Delivery status notification',
        `============================================================================
      This message was created automatically by mail delivery software.
============================================================================

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  * ada@example.net
      SMTP error from remote mail server after RCPT TO:<ada@example.net>:
      550 5.1.1 unrouteable address? user unknown

============================================================================
`,
      ),
    ],
    [
      'soft quota',
      'X4',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Mail Delivery Failed... ',
        `We're sorry. There's a problem with the e-mail address(es) you're trying to send to. Please verify the address(es) and try again. If you continue to have problems, please contact Customer Support at (480) 555-2500.

<ada@example.net>:
child status 100...The e-mail message could not be delivered because the user's mailfolder is full.

--- Below this line is a copy of the message.

${COPY}`,
      ),
    ],
    [
      'hard mailbox suppress',
      'X5',
      mixed(
        'From: "Mail Delivery Subsystem" <MAILER-DAEMON@mx.example.net>\nSubject: =?utf-8?B?RGVsaXZlcnkgZmFpbHVyZQ==?=',
        textPart('A message from you could not be delivered.'),
        'Content-Type: text/plain\n\nFinal-Recipient: rfc822; ada@example.net\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: SMTP; 550 (<ada@example.net>) User unknown',
        copyPart,
      ),
    ],
    [
      'hard mailbox suppress',
      'X6',
      plain(
        'From: Mail Delivery System <mailer-daemon@mx.example.net>\nSubject: There was an error sending your mail',
        `We had trouble delivering your message. Full details follow:

Subject: 'Hello'
Date: 'Thu, 31 Jan 2030 09:00:00 +0000'

1 error(s):

SMTP Server <mx2.example.net> rejected recipient <ada@example.net> 
  (following RCPT command). It responded as follows: [ 550 5.1.1 <ada@example.net>... User unknown ]

`,
      ),
    ],
  ),
  ...family(
    'Japanese text',
    // The recipient's address was not found.
    [
      'hard mailbox suppress',
      'not found',
      japanese(
        'From: mailer-daemon@mx.example.net\nSubject: failure notice',
        '30384072243f2422255e3b243b2473'.slice(0, 0) +
          '3038406824 2c 38 2b 24 44 24 2b 24 6a 24 5e 24 3b 24 73'.replaceAll(' ', ''),
        'ada@example.net',
      ),
    ],
    [
      'hard mailbox suppress',
      'a reply below the text',
      japanese(
        'From: "Mail Delivery Subsystem" <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail',
        '2422244640682447244924',
        'ada@example.net\n550 5.1.1 <ada@example.net>: User unknown',
      ),
    ],
    [
      'soft quota',
      'a full mailbox, base64',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: =?UTF-8?B?6YWN5L+h44Ko44Op44O8?=\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64',
        inBase64(
          '次のあて先へのメッセージはエラーのため送信できませんでした。\n\nada@example.net\n\nメールボックスの容量を超えています。\n',
        ),
      ),
    ],
    [
      'hard mailbox suppress',
      'a wrong label',
      plain(
        'From: MAILER-DAEMON@mx.example.net\nSubject: Undeliverable\nMIME-Version: 1.0\nContent-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 8bit',
        'ada@example.net\n宛先のメールアドレスが見つかりません。',
      ),
    ],
  ),
  ...family(
    'QQ and NetEase',
    [
      'hard mailbox suppress',
      'QQ, html',
      chinese(
        'From: "=?UTF-8?B?UVHpgq7nrrHnrqHnkIblkZg=?=" <PostMaster@qq.example>\nSubject: =?UTF-8?B?57O757uf6YCA5L+h?=',
        '<div>抱歉，您的邮件被退回来了……</div><div>收件人：ada@example.net</div><div>退信原因：收件人邮件地址（ada@example.net）不存在，邮件无法送达。<br>Mailbox not found. host mx.example.net said: 550 Mailbox not found.</div>',
      ),
    ],
    [
      'soft quota',
      'QQ, full',
      chinese(
        'From: PostMaster@qq.example\nSubject: =?UTF-8?B?57O757uf6YCA5L+h?=',
        '<div>您的邮件被退回</div><p>收件人：ada@example.net</p><p>退信原因：收件人邮箱已满，无法接收邮件。</p>',
      ),
    ],
    [
      'hard mailbox suppress',
      'NetEase',
      mixed(
        'From: Postmaster@126.example\nSubject: =?UTF-8?B?57O757uf6YCA5L+h?=',
        `Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${inBase64('抱歉，您的邮件被退回来了……\n\n收件人: ada@example.net\n\n退信原因：SMTP error, RCPT TO: Host example.net(192.0.2.9) said 550 User not found: ada@example.net (in reply to RCPT TO command)\n')}`,
        copyPart,
      ),
    ],
    [
      'soft policy',
      'refused by the recipient',
      chinese(
        'From: PostMaster@qq.example\nSubject: =?UTF-8?B?57O757uf6YCA5L+h?=',
        '<p>收件人：ada@example.net</p><p>退信原因：收件人已拒收您的邮件。</p>',
      ),
    ],
  ),
  ...family(
    'Korean providers',
    [
      'hard mailbox suppress',
      'no such account',
      plain(
        'From: "=?utf-8?B?66mU7J287Iuc7Iqk7YWc?=" <postmaster@naver.example>\nSubject: =?utf-8?B?67CY7IahIOuplOydvA==?=\nContent-Type: text/plain; charset=utf-8',
        'ada@example.net\n존재하지 않는 메일 주소입니다.',
      ),
    ],
    [
      'soft quota',
      'full',
      plain(
        'From: postmaster@daum.example\nSubject: Returned mail\nContent-Type: text/plain; charset=utf-8',
        'ada@example.net\n552 5.2.2 메일함 용량 초과',
      ),
    ],
    [
      'hard mailbox suppress',
      'a report',
      dsn(
        'From: MAILER-DAEMON@naver.example\nSubject: Undelivered Mail Returned to Sender',
        'Sorry.',
        fields('5.1.1', 'smtp; 550 5.1.1 No such user here'),
      ),
    ],
  ),
];
