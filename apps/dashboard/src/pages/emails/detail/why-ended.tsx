import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { may, useMe } from '../../../api/me.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Notice } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import type { Email, Recipient } from './email.ts';
import { NextStep } from './next-step.tsx';
import { words } from './strings.ts';

type Suppression = NonNullable<Outputs['suppressions']['byAddress'][number]>;
type EndedStatus = keyof typeof words.ended.titles;

/** An email can have 50 recipients; the table below shows all of them. */
const MAX_SHOWN = 5;

const isEnded = (status: Recipient['status']): status is EndedStatus => status in words.ended.titles;

/** Explains for each recipient that the email did not reach why it ended, and what to do. */
export function WhyEnded({ email }: { readonly email: Email }) {
  const ended = email.recipients.filter(({ status }) => isEnded(status));
  const visible = ended.slice(0, MAX_SHOWN);
  const suppressions = useQuery(
    trpc.suppressions.byAddress.queryOptions({ ids: visible.map((one) => one.email) }, { enabled: visible.length > 0 }),
  );
  if (ended.length === 0) return null;
  return (
    <Notice tone={ended.some(({ status }) => status !== 'suppressed') ? 'bad' : 'calm'}>
      <ul className="stack">
        {visible.map((recipient, index) => (
          <li key={recipient.id}>
            <EndedRecipient recipient={recipient} from={email.from} suppression={suppressions.data?.[index]} />
          </li>
        ))}
      </ul>
      {ended.length > visible.length && <p className="small">{words.ended.more(ended.length - visible.length)}</p>}
    </Notice>
  );
}

function EndedRecipient({
  recipient,
  from,
  suppression,
}: {
  readonly recipient: Recipient;
  readonly from: string;
  /** Null if the address is not suppressed, undefined while unknown. */
  readonly suppression: Suppression | null | undefined;
}) {
  const { email, status, explanation, last_response } = recipient;
  const text = words.ended;
  if (!isEnded(status)) return null;
  return (
    <div className="stack-s">
      <p>
        <strong>{text.titles[status](email)}</strong> {explanation?.meaning ?? text.meanings[status]}
      </p>
      <NextStep action={explanation?.action ?? text.actions[status]} cause={explanation?.cause} from={from} />
      {explanation !== null && last_response !== null && (
        <p className="small">
          <span className="muted">{explanation.provider ? text.responseOf(explanation.provider) : text.response}</span>{' '}
          <code>{last_response}</code>
        </p>
      )}
      {suppression !== undefined && <SuppressionState email={email} suppression={suppression} />}
    </div>
  );
}

function SuppressionState({
  email,
  suppression,
}: {
  readonly email: string;
  readonly suppression: Suppression | null;
}) {
  const me = useMe();
  const text = words.ended;
  if (suppression === null) return <p className="small muted">{text.notSuppressed}</p>;
  return (
    <p className="small">
      {text.suppressed(text.sources[suppression.source])} <RelativeTime at={suppression.created_at} />.{' '}
      {may(me, 'admin') ? (
        <Link to="/suppressions" search={{ email, remove: email }}>
          {text.remove}
        </Link>
      ) : (
        text.askAdmin
      )}
    </p>
  );
}
