import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { may, useMe } from '../../../api/me.ts';
import { Notice } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime, span } from '../../../parts/times.tsx';
import type { Email, Waiting } from './email.ts';
import { EndWait } from './email-actions.tsx';
import { NextStep } from './next-step.tsx';
import { words } from './strings.ts';

/** Explains why an email has not been sent yet, with the action that resolves the wait. */
export function WaitingNotice({ email }: { readonly email: Email }) {
  const me = useMe();
  const recipient = email.recipients.find((one) => one.waiting !== null);
  const waiting = recipient?.waiting;
  if (!waiting) return null;
  const explanation = recipient.status === 'deferred' ? recipient.explanation : null;
  return (
    <Notice tone={waiting.reason === 'scheduled' || waiting.reason === 'in_line' ? 'info' : 'wait'}>
      <div className="line spread">
        <p>
          <strong>{sentenceOf(waiting)}</strong>{' '}
          {waiting.hold && may(me, 'admin') && (
            <Link to="/delivery/holds" search={{ hold: waiting.hold.id }}>
              {words.waiting.viewHold}
            </Link>
          )}
        </p>
        <EndWait id={email.id} reason={waiting.reason} />
      </div>
      {explain(waiting) && <p>{explain(waiting)}</p>}
      {explanation && (
        <>
          <p>{explanation.meaning}</p>
          <NextStep action={explanation.action} cause={explanation.cause} from={email.from} />
        </>
      )}
      {waiting.last_reply !== null && (
        <p className="small">
          <span className="muted">
            {explanation?.provider ? words.ended.responseOf(explanation.provider) : words.ended.response}
          </span>{' '}
          <code>{waiting.last_reply}</code>
        </p>
      )}
    </Notice>
  );
}

function sentenceOf(waiting: Waiting): ReactNode {
  const { reason, until, since, ahead, eta_seconds } = waiting;
  const text = words.waiting;
  const when = until ? (
    <>
      {' '}
      {reason === 'retry_backoff' ? (
        <RelativeTime at={until} upcoming />
      ) : (
        <>
          {reason === 'scheduled' ? text.scheduledFor : text.until} <ExactTime at={until} />
        </>
      )}
    </>
  ) : (
    waiting.hold && ` ${text.untilReleased}`
  );
  const since_text = since && (
    <>
      {' '}
      <RelativeTime at={since} lasting />
    </>
  );
  const queue = [ahead !== null && text.ahead(ahead), eta_seconds !== null && text.eta(span(eta_seconds))].filter(
    Boolean,
  );
  return (
    <>
      {text[reason]}
      {waiting.hold && ` ${text.because(waiting.hold.reason)}`}
      {when}
      {since_text}
      {queue.length > 0 && `: ${queue.join(', ')}`}.
    </>
  );
}

function explain({ reason, policy }: Waiting): string | null {
  if (reason === 'no_worker') return words.waiting.worker;
  if (!policy) return null;
  const destination = policy.destination ?? '';
  if (policy.kind === 'resume_rate') return words.waiting.resume;
  return policy.kind === 'destination_limit' ? words.waiting.limit(destination) : words.waiting.failures(destination);
}
