import { readReply, type SendOutcome } from '@postrider/mail';
import { describe, expect, it } from 'vitest';
import { judgeOutcome, refusalOf } from './outcome.ts';

function rejected(stage: SendOutcome['stage'], line: string | null): SendOutcome {
  return {
    kind: 'rejected',
    reply: readReply(line ?? ''),
    error: line === null ? 'the content was deleted' : null,
    target: 'mx.example.com:25',
    address: null,
    tls: null,
    tls_policy: null,
    phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
    stage,
    transcript: '',
  };
}

const judge = (outcome: SendOutcome, attempt_count = 1, { unknown_before = 0, lost_before = 0 } = {}) =>
  judgeOutcome(outcome, {
    attempt_count,
    unknown_before,
    lost_before,
    domain_is_missing: false,
    schedule: [60],
    unknown_policy: 'resend',
  });

describe('rejection handling', () => {
  it.each(['rcpt', 'data', 'after_dot'] as const)(
    'suppresses the address if the mailbox is rejected at %s',
    (stage) => {
      expect(judge(rejected(stage, '550 5.1.1 User unknown'))).toEqual({
        transition: 'reject',
        reason: 'mailbox',
        suppress: true,
      });
    },
  );

  it('attributes a rejection at MAIL to the sender, whatever the code', () => {
    expect(judge(rejected('mail', '550 5.1.1 User unknown'))).toMatchObject({ transition: 'reject', suppress: false });
  });

  it('promise P5: bounces email to a null MX without a connection, and suppresses no address', () => {
    expect(judge(rejected('connect', '556 5.1.10 example.com publishes a null MX record'))).toEqual({
      transition: 'reject',
      reason: 'domain',
      suppress: false,
    });
  });

  it('does not treat an outcome without a reply as a rejection, because nothing was sent', () => {
    const outcome = rejected('connect', null);

    expect(judge(outcome)).toEqual({ transition: 'expire', reason: 'content_gone' });
    expect(refusalOf(outcome)).toBeNull();
  });

  it('retries temporary rejections until the schedule is exhausted, and then fails the email', () => {
    const outcome = rejected('rcpt', '550 5.7.1 Too many messages, slow down');

    expect(judge(outcome, 1)).toMatchObject({ transition: 'defer', delay_seconds: 60 });
    expect(judge(outcome, 2)).toEqual({ transition: 'expire', reason: 'retries_exhausted' });
  });

  it('allows as many retries as usual even if workers were lost, up to a limit', () => {
    const outcome = rejected('rcpt', '550 5.7.1 Too many messages, slow down');

    expect(judge(outcome, 21, { lost_before: 20 })).toMatchObject({ transition: 'defer', delay_seconds: 60 });
    expect(judge(outcome, 22, { lost_before: 21 })).toMatchObject({ transition: 'expire' });
  });
});
