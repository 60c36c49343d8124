import { dsn, family, fields, mixed, plain, textPart } from './fixture.ts';

// Public mailbox providers, and other servers' reports of their replies.

const google =
  'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nSubject: Delivery Status Notification (Failure)';
const viaGoogle = (status: string, reply: string, words: string, action = 'failed') =>
  dsn(
    google,
    `** ${words} **\n\nThe response from the remote server was:\n\n${reply}`,
    fields(status, `smtp; ${reply}`, action),
  );
const postfix =
  'From: Mail Delivery System <MAILER-DAEMON@mx.example.org>\nSubject: Undelivered Mail Returned to Sender';
/** Formats a reply as Postfix reports it. */
const rejection = (reply: string, command = 'RCPT TO') => {
  const status = /[45]\.\d+\.\d+/.exec(reply)?.[0] ?? `${reply[0]}.0.0`;
  const text = `host mx2.example.net[192.0.2.5] said: ${reply} (in reply to ${command} command)`;
  return dsn(
    postfix,
    `This is the mail system at host mx.example.org.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n<ada@example.net>: ${text}`,
    fields(status, `smtp; ${reply}`),
  );
};
/** Builds a message in the charset of its country; `bytes` is the text as base64. */
const foreign = (from: string, subject: string, charset: string, bytes: string) =>
  plain(
    `From: ${from}\nSubject: ${subject}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: base64`,
    bytes,
  );

export const publicProviders = [
  ...family(
    'Gmail',
    [
      'hard mailbox suppress',
      'an account that does not exist',
      viaGoogle(
        '5.1.1',
        "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser a1 - gsmtp",
        "Address not found **\n\nYour message wasn't delivered to ada@example.net because the address couldn't be found, or is unable to receive mail.",
      ),
    ],
    [
      'soft quota',
      'over quota',
      viaGoogle(
        '4.2.2',
        "452 4.2.2 The recipient's inbox is out of storage space. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp a1 - gsmtp",
        'Recipient inbox full **\n\nYour message couldn’t be delivered to ada@example.net. Their inbox is full.',
      ),
    ],
    [
      'soft authentication',
      'without authentication',
      viaGoogle(
        '5.7.26',
        "550 5.7.26 Unauthenticated email from example.org is not accepted due to domain's DMARC policy. Please contact the administrator of example.org domain if this was a legitimate mail. a1 - gsmtp",
        'Message blocked',
      ),
    ],
    [
      'soft mailbox',
      'a disabled account',
      viaGoogle(
        '5.2.1',
        '550 5.2.1 The email account that you tried to reach is disabled. For more information, go to https://support.google.com/mail/?p=DisabledUser a1 - gsmtp',
        'Address not found',
      ),
    ],
    [
      'hard domain',
      'a domain that does not exist',
      viaGoogle(
        '5.1.2',
        "DNS Error: DNS type 'mx' lookup of example.net responded with code NXDOMAIN Domain name not found: example.net",
        "Address not found **\n\nYour message wasn't delivered to ada@example.net because the domain example.net couldn't be found.",
      ),
    ],
    [
      'soft policy',
      'a group that may not exist',
      dsn(
        google,
        "Hello hello@example.org,\n\nWe're writing to let you know that the group you tried to contact (ada) may not exist, or you may not have permission to post messages to the group. A few more details on why you weren't able to post:\n\n * You might have spelled or formatted the group name incorrectly.\n * The owner of the group may have removed this group.\n * You may need to join the group before receiving permission to post.\n * This group may not be open to posting.",
        fields('5.7.1', 'smtp; The group you tried to contact may not exist'),
      ),
    ],
    [
      'soft reputation',
      'judged after the data',
      viaGoogle(
        '5.7.1',
        '550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked. a1 - gsmtp',
        'Message blocked',
      ),
    ],
  ),
  ...family(
    'Yahoo and AOL',
    [
      'hard mailbox suppress',
      'no account',
      rejection(
        "554 delivery error: dd This user doesn't have a yahoo.com account (ada@example.net) [0] - mta1.mail.yahoo.example",
      ),
    ],
    [
      'soft mailbox',
      'a disabled mailbox',
      rejection(
        '554 30 Sorry, your message to ada@example.net cannot be delivered. This mailbox is disabled (554.30).',
        'end of DATA',
      ),
    ],
    [
      'soft reputation',
      'deferred for good',
      rejection(
        '553 5.7.2 [TSS09] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed. See https://postmaster.yahooinc.com/error-codes',
        'MAIL FROM',
      ),
    ],
    ['hard mailbox suppress', 'Yahoo Japan', rejection('550 Unknown user ada@example.net')],
    [
      'soft authentication',
      'a policy',
      rejection(
        '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
        'end of DATA',
      ),
    ],
    ['hard mailbox suppress', 'AOL', rejection('550 5.1.1 <ada@example.net>: Recipient address rejected: example.net')],
  ),
  ...family(
    'Microsoft, Apple and Proton',
    [
      'hard mailbox suppress',
      'Outlook.com',
      rejection(
        '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [DB5EUR01FT010.eop-EUR01.prod.protection.outlook.com]',
      ),
    ],
    [
      'soft reputation',
      'a block list of Outlook.com',
      rejection(
        "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140). You can also refer your provider to http://mail.live.com/mail/troubleshooting.aspx#errors.",
        'MAIL FROM',
      ),
    ],
    ['hard mailbox suppress', 'iCloud', rejection('550 5.1.1 <ada@example.net>: user does not exist')],
    ['soft quota', 'iCloud over quota', rejection('552 5.2.2 <ada@example.net>: user is over quota')],
    [
      'soft reputation',
      'iCloud by a block list',
      rejection('550 5.7.0 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.1', 'MAIL FROM'),
    ],
    [
      'hard mailbox suppress',
      'Proton',
      rejection('550 5.1.1 <ada@example.net>: Recipient address rejected: Address does not exist'),
    ],
    ['hard mailbox suppress', 'Zoho', rejection('550 5.1.1 User does not exist - <ada@example.net>')],
    ['hard mailbox suppress', 'Comcast', rejection('550 5.1.1 Not our Customer')],
    ['hard mailbox suppress', 'Cloudflare', rejection('550 5.1.1 Address does not exist. a1B2c3D4')],
    ['hard mailbox suppress', 'moved elsewhere', rejection('551 5.1.6 ada@example.net: recipient no longer on server')],
  ),
  ...family(
    'France',
    [
      'hard mailbox suppress',
      'Orange',
      rejection('550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]'),
    ],
    [
      'soft quota',
      'Orange, a full mailbox',
      rejection('550 5.5.0 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]'),
    ],
    [
      'soft mailbox',
      'Orange, refused',
      rejection('550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506]', 'end of DATA'),
    ],
    [
      'hard mailbox suppress',
      'Free',
      rejection("550 5.1.1 <ada@example.net>: Recipient address rejected: Cet utilisateur n'existe pas"),
    ],
    [
      'soft mailbox',
      'SFR, inactive',
      rejection('550 5.2.1 <ada@example.net>: Ce compte est désactivé / This account is disabled'),
    ],
  ),
  ...family(
    'Germany',
    [
      'hard mailbox suppress',
      'GMX',
      rejection(
        '550 Requested action not taken: mailbox unavailable For explanation visit https://postmaster.gmx.net/error-messages?ip=192.0.2.1&c=nuser',
      ),
    ],
    ['hard mailbox suppress', 'Telekom', rejection('550 user unknown')],
    [
      'soft quota',
      'web.de',
      rejection(
        '552 Requested mail action aborted: exceeded storage allocation Quota exceeded. For explanation visit https://postmaster.web.de/error-messages',
      ),
    ],
    [
      'hard mailbox suppress',
      'Strato, a text',
      plain(
        'From: Mail Delivery System <mailer-daemon@smtp.strato.example>\nSubject: Ihre Nachricht konnte nicht zugestellt werden\nContent-Type: text/plain; charset=utf-8',
        'Ihre Nachricht an ada@example.net konnte nicht zugestellt werden.\n\nGrund: Der Empfänger existiert nicht.\n\nBitte prüfen Sie die Adresse.',
      ),
    ],
    [
      'soft reputation',
      'a wrong host name',
      rejection(
        '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.)',
        'EHLO',
      ),
    ],
  ),
  ...family(
    'Russia',
    [
      'hard mailbox suppress',
      'Mail.ru',
      rejection(
        '550 Message was not accepted -- invalid mailbox.  Local mailbox ada@example.net is unavailable: user not found',
      ),
    ],
    [
      'soft mailbox',
      'Mail.ru, disabled',
      rejection(
        '550 Message was not accepted -- invalid mailbox.  Local mailbox ada@example.net is unavailable: account is disabled',
      ),
    ],
    ['hard mailbox suppress', 'Yandex', rejection('550 5.7.1 No such user!')],
    [
      'soft content',
      'Yandex, spam',
      rejection('554 5.7.1 [1] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc a1', 'end of DATA'),
    ],
    [
      'hard mailbox suppress',
      'a text in KOI8-R',
      foreign(
        'mailer-daemon@mail.example.net',
        '=?koi8-r?B?7sXEz9PUwdfMxc7Oz8Ug0MnT2M3P?=',
        'koi8-r',
        '/NTPINDJ09jNzyDTz9rEwc7PIMHX1M/NwdTJ3sXTy8kg0M/e1M/X2c0g08XS18XSz80uCgrrINPP1sHMxc7JwCwg98HbxSDQydPYzc8gzsUgzc/WxdQgwtnU2CDEz9PUwdfMxc7PINDPzNXewdTFzMAgYWRhQGV4YW1wbGUubmV0OgoK0M/M2NrP18HUxczYIM7FIM7BysTFzgo=',
      ),
    ],
    [
      'soft quota',
      'a text in windows-1251',
      foreign(
        'postmaster@mail.example.net',
        'Undelivered Mail',
        'windows-1251',
        'wuD45SDv6PH87O4g6iBhZGFAZXhhbXBsZS5uZXQg7eUg5O7x8uDi6+Xt7i4Kz/Do9+jt4Dog7+738u7i++kg//no6iDv7uvz9+Dy5ev/IO/l8OXv7uvt5e0uCg==',
      ),
    ],
  ),
  ...family(
    'Japan',
    ['hard mailbox suppress', 'SoftBank', rejection('550 Invalid recipient: <ada@example.net>')],
    [
      'hard mailbox suppress',
      'a text in iso-2022-jp',
      foreign(
        'Mail Delivery Subsystem <MAILER-DAEMON@sv.example.net>',
        '=?utf-8?B?6YWN5L+h44Ko44Op44O8?=',
        'iso-2022-jp',
        'GyRCMEoyPCROJWEhPCVrJSIlSSVsJTkkWCROQXc/LiRLPDpHVCQ3JF4kNyQ/ISMbKEIKCjxhZGFAZXhhbXBsZS5uZXQ+CgobJEJNfU0zGyhCOiAbJEIwOEBoJE4lYSE8JWslIiVJJWwlOSQsQjg6XyQ3JF4kOyRzISMbKEIK',
      ),
    ],
    [
      'soft quota',
      'a full mailbox',
      foreign(
        'postmaster@sv.example.net',
        '=?utf-8?B?44Oh44O844Or6YCB5L+h44Ko44Op44O8?=',
        'iso-2022-jp',
        'GyRCJDMkTiVhITwlayRPQXc/LiRHJC0kXiQ7JHMkRyQ3JD8hIxsoQgoKGyRCQXc/LkBoGyhCOiBhZGFAZXhhbXBsZS5uZXQKGyRCODYweBsoQjogGyRCQWo8akBoJE4lYSE8JWslXCVDJS8lOSROTUZOTCQsRDYyYSQ3JEYkJCReJDkhIxsoQgo=',
      ),
    ],
    [
      'hard mailbox suppress',
      'Shift_JIS',
      foreign(
        'MAILER-DAEMON@sv.example.net',
        'Returned mail: User unknown',
        'Shift_JIS',
        'g4aBW4NVgVuCqoypgsKCqYLogtyCuYLxOiBhZGFAZXhhbXBsZS5uZXQK',
      ),
    ],
    [
      'delay',
      'a delay',
      foreign(
        'postmaster@sv.example.net',
        '=?utf-8?B?6YCB5L+h6YGF5bu244Gu44GK55+l44KJ44Gb?=',
        'iso-2022-jp',
        'GyRCJWEhPCVrJE5Bdz8uJCxDWTFkJDckRiQkJF4kOSEjGyhCCgobJEIwOEBoGyhCOiBhZGFAZXhhbXBsZS5uZXQKChskQjB6JC1CMyQtOkZBdyRyO24kXyReJDkhIyQzJE4lYSE8JWskcjpGQXc/LiQ3JEYkJCQ/JEAkL0ksTVckTyQiJGokXiQ7JHMhIxsoQgo=',
      ),
    ],
  ),
  ...family(
    'China, Taiwan and Korea',
    [
      'hard mailbox suppress',
      'QQ, a text in GB18030',
      foreign(
        'PostMaster@qq.example',
        '=?gb18030?B?0rvGtc3L0MU=?=',
        'gb18030',
        'safHuKOsxPq1xNPKvP6xu83Lu9jAtMHLoaMKCs7et6i3osvNtb0gYWRhQGV4YW1wbGUubmV0CgrNy9DF1K3S8qO6ytW8/sjL08q8/rXY1rejqGFkYUBleGFtcGxlLm5ldKOpsru05tTao6zTyrz+zt63qMvNtO+howoKveK+9re9sLijusfrwarPtcT6tcTK1bz+yMujrNbY0MK6y8q108rP5LXY1rehowo=',
      ),
    ],
    [
      'soft quota',
      '163, a full mailbox',
      foreign(
        'Postmaster@163.example',
        '=?gb2312?B?z7XNs83L0MU=?=',
        'gb2312',
        'xPq1xNPKvP7O3reoy82079LUz8LK1bz+yMujugoKYWRhQGV4YW1wbGUubmV0CgrUrdLyo7q21Le908rP5Mjdwb/S0cL6o6zH68nUuvPU2crUoaMK',
      ),
    ],
    [
      'soft content',
      '163, refused for its content',
      foreign(
        'Postmaster@163.example',
        '=?gb2312?B?z7XNs83L0MU=?=',
        'gb2312',
        'utyxp8e4o6zE+reiy821xNPKvP6xu7bUt723/s7xxve+3MrVoaMKCsrVvP7Iy6O6YWRhQGV4YW1wbGUubmV0CtSt0vKjutPKvP7E2sjdyebP08Csu/jTyrz+oaMK',
      ),
    ],
    ['hard mailbox suppress', '163', rejection('550 User not found: ada@example.net')],
    [
      'soft content',
      'NetEase',
      rejection(
        '554 DT:SPM 163 mx12,Q8CowEB5k1, please see http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.1',
        'end of DATA',
      ),
    ],
    [
      'soft content',
      'Alibaba',
      rejection(
        '554 Reject by behaviour spam at Rcpt State(Connection IP address:192.0.2.1)ANTISPAM_BAT[01201311R146S]',
      ),
    ],
    ['soft mailbox', 'Coremail', rejection('550 5.2.1 User suspended')],
    [
      'hard mailbox suppress',
      'Taiwan, in Big5',
      foreign(
        'postmaster@msa.example.net',
        '=?utf-8?B?6YC+5YGc6YGe?=',
        'big5',
        'sXqqurZspfO1TKprtse7vLW5pFWmQ6aspfOqzKFHCgphZGFAZXhhbXBsZS5uZXQKCq3spl2hR6xktUymubFiuLkK',
      ),
    ],
    [
      'hard mailbox suppress',
      'Korea, in EUC-KR',
      foreign(
        'mailer-daemon@mail.example.net',
        '=?utf-8?B?67CY7Iah65CcIOuplOydvA==?=',
        'euc-kr',
        'uN7AzyDA/Lzbv6EgvcfG0MffvcC0z7TZLgoKud60wiC757b3OiBhZGFAZXhhbXBsZS5uZXQKvcfG0CC758CvOiDBuMDnx8/B9iC+yrTCILvnv+vA2sDUtM+02S4K',
      ),
    ],
    ['soft quota', 'Naver', rejection('552 5.2.2 ada mailbox is full - nsmtp')],
  ),
  ...family(
    'Italy, Spain and Brazil',
    ['hard mailbox suppress', 'Libero', rejection('550 5.1.1 recipient rejected: utente inesistente')],
    ['hard mailbox suppress', 'Telefónica', rejection('550 El usuario no existe en el sistema')],
    ['soft quota', 'UOL', rejection('552 5.2.2 Caixa postal do destinatario cheia')],
    [
      'hard mailbox suppress',
      'Terra, a text',
      mixed(
        'From: Mail Delivery System <MAILER-DAEMON@terra.example>\nSubject: Mensagem nao entregue',
        textPart(
          'Sua mensagem nao pode ser entregue ao destinatario abaixo:\n\n<ada@example.net>: usuario inexistente',
        ),
      ),
    ],
  ),
  ...family(
    'words that point the wrong way',
    [
      'soft reputation',
      'a rejected recipient, because of the client',
      rejection(
        '550 5.7.1 <ada@example.net>: Recipient address rejected: Mail appeared to be SPAM or forged. Ask your Mail/DNS-Administrator to correct HELO and DNS MX settings or to get removed from DNSBLs',
      ),
    ],
    [
      'soft policy',
      'a sender that is unknown',
      rejection('550 5.1.0 <b+0@example.org>: Sender address rejected: User unknown in virtual alias table', 'RCPT TO'),
    ],
    [
      'soft authentication',
      'a client without a name',
      rejection('554 5.7.1 <mail.example.org[192.0.2.1]>: Client host rejected: Access denied'),
    ],
    [
      'soft reputation',
      'an unauthorised recipient, because of a block list',
      rejection('550 5.7.1 Recipient not authorized, your IP has been found on a block list'),
    ],
    [
      'soft policy',
      'an access that was rejected',
      rejection('550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.'),
    ],
    [
      'soft content',
      'a bad address inside the mail',
      rejection('550 5.6.0 Message rejected: invalid address in the To header, user unknown', 'end of DATA'),
    ],
    ['hard mailbox suppress', 'a former employee', rejection('550 5.1.1 This person no longer works here')],
    ['hard mailbox suppress', 'an illegal alias', rejection('550 unknown or illegal alias: ada@example.net')],
    ['soft mailbox', 'an account that is closed', rejection('550 5.2.1 Account closed')],
    ['soft throttled', 'a rate', rejection('452 4.3.1 Recipient has exceeded its rate limit, try later')],
    [
      'soft policy',
      'a filter of the recipient',
      rejection('550 5.7.1 The user has chosen not to receive mail from unknown users'),
    ],
    [
      'soft network',
      'a lookup that failed',
      rejection(
        '451 4.1.1 <ada@example.net>: Recipient address rejected: User unknown lookup failed, temporary failure',
      ),
    ],
    [
      'soft policy',
      'no mail from abroad',
      rejection('550 5.7.1 Mail from your country is not accepted for this recipient'),
    ],
  ),
];
