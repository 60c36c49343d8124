import '../emails.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { may, useMe } from '../../../api/me.ts';
import { trpc } from '../../../api/trpc.ts';
import { Id } from '../../../parts/copy.tsx';
import { isOpen, MailBadge, type MailStatus, mailStates } from '../../../parts/mail-status.tsx';
import { Facts, PageHeader, Panel } from '../../../parts/page.tsx';
import { bytes } from '../../../parts/sizes.ts';
import { QueryView } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime, spanMs } from '../../../parts/times.tsx';
import type { ContentTab } from '../content-tabs.ts';
import { words as list } from '../strings.ts';
import { Content } from './content.tsx';
import type { Email, Recipient } from './email.ts';
import { EmailActions } from './email-actions.tsx';
import { Recipients } from './recipients.tsx';
import { words } from './strings.ts';
import { Trace } from './trace.tsx';
import { WaitingNotice } from './waiting-notice.tsx';
import { WebhookRows } from './webhook-rows.tsx';
import { WhyEnded } from './why-ended.tsx';

/** Shows everything about one email: why it is waiting, its trace, its recipients, and its content. */
export function EmailDetail({
  id,
  tab,
  onTab,
  drawn: has_trace = false,
}: {
  readonly id: string;
  readonly tab: ContentTab;
  readonly onTab: (tab: ContentTab) => void;
  /** Whether the email is shown in a drawer, which has its own heading. */
  readonly drawn?: boolean;
}) {
  const email = useQuery(trpc.emails.get.queryOptions({ id }));
  return (
    <QueryView query={email} lines={10} head={!has_trace && <PageHeader title={words.title} />}>
      {(data) => (
        <>
          <PageHeader
            name={data.subject || list.noSubject}
            title={
              <span className="line">
                {data.subject || list.noSubject} <MailBadge status={data.status} captured={data.captured} />
              </span>
            }
            answer={<Answer email={data} />}
            actions={
              <>
                <EmailActions email={data} />
                {has_trace && (
                  <Link
                    to="/emails/$id"
                    params={{ id }}
                    className="button plain icon"
                    aria-label={words.openPage}
                    title={words.openPage}
                  >
                    <ExternalLink size={15} />
                  </Link>
                )}
              </>
            }
          />
          <WaitingNotice email={data} />
          <WhyEnded email={data} />
          <Trace email={data} />
          <WebhookRows email={data} />
          <Recipients email={data} />
          <Content id={id} tab={tab} onTab={onTab} email={data} />
          <Panel title={words.facts.title}>
            <Facts rows={factsOf(data)} />
          </Panel>
        </>
      )}
    </QueryView>
  );
}

function Answer({ email }: { readonly email: Email }) {
  const { recipients, status, captured, delivered_at, created_at } = email;
  const done = recipients.filter((one) => one.status === 'delivered').length;
  if (status === 'sending') return words.answer.sending;
  if (done > 0 && done === recipients.length && delivered_at !== null) {
    const took = spanMs(Math.max(0, Date.parse(delivered_at) - Date.parse(created_at)));
    if (captured) return words.answer.captured(done, took);
    const { delivered, deliveredMeans, confirmedMeans, relayed, relayedMeans } = words.answer;
    if (recipients.some(isUnconfirmed)) return <span title={relayedMeans}>{relayed(done, took)}</span>;
    const meaning = recipients.some((one) => one.confirmed_at !== null) ? confirmedMeans : deliveredMeans;
    return <span title={meaning}>{delivered(done, took)}</span>;
  }
  if (done > 0 && !isOpen(status)) return words.answer.mixed(captured, done, recipients.length, restOf(email));
  const since = (
    <>
      {words.accepted} <RelativeTime at={created_at} />.
    </>
  );
  return isOpen(status) ? (
    since
  ) : (
    <>
      {since} {words.answer.closed}
    </>
  );
}

/** Returns whether all that is known is that a relay accepted the email. */
function isUnconfirmed({ relayed, confirmed_at }: Recipient): boolean {
  return relayed === true && confirmed_at === null;
}

/** Counts the recipients with other outcomes, by state: "1 bounced, 2 suppressed". */
function restOf({ recipients }: Email): string {
  const counts = new Map<MailStatus, number>();
  for (const { status } of recipients) if (status !== 'delivered') counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${mailStates[status].word.toLowerCase()}`).join(', ');
}

function factsOf(email: Email): readonly (readonly [string, ReactNode])[] {
  const { facts } = words;
  const metadata = Object.entries(email.metadata);
  return [
    [facts.id, <Id key="id" id={email.id} whole />],
    [facts.from, email.from],
    [facts.to, email.to.join(', ')],
    [facts.cc, email.cc.join(', ')],
    [facts.bcc, email.bcc.join(', ')],
    [facts.replyTo, email.reply_to],
    [facts.tags, email.tags.length > 0 && email.tags.map((tag) => <TagLink key={tag} tag={tag} />)],
    [facts.metadata, metadata.length > 0 && <Facts key="metadata" rows={metadata} />],
    [facts.created, <ExactTime key="created" at={email.created_at} />],
    [facts.scheduled, email.scheduled_at && <ExactTime key="scheduled" at={email.scheduled_at} />],
    [facts.messageId, <Id key="message" id={email.message_id} whole />],
    [facts.key, email.api_key_id && <KeyLink key="key" id={email.api_key_id} />],
    [facts.request, <Id key="request" id={email.request_id} whole />],
    [facts.size, bytes(email.size_bytes)],
    [
      facts.resendOf,
      email.resend_of && (
        <Link key="resend" to="/emails/$id" params={{ id: email.resend_of }} className="mono">
          {email.resend_of}
        </Link>
      ),
    ],
  ];
}

function KeyLink({ id }: { readonly id: string }) {
  const me = useMe();
  if (!may(me, 'admin')) return <Id id={id} whole />;
  return (
    <Link to="/settings/api-keys" search={{ key: id }} className="mono">
      {id}
    </Link>
  );
}

function TagLink({ tag }: { readonly tag: string }) {
  return (
    <Link to="/emails" search={{ q: `tag:${tag}` }} className="chip">
      {tag}
    </Link>
  );
}
