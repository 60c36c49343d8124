import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { trpc } from '../../../api/trpc.ts';
import { words as domains } from '../../domains/strings.ts';
import { domainIn, type Recipient } from './email.ts';
import { LinkedText } from './linked-text.tsx';
import { words } from './strings.ts';

type Cause = NonNullable<Recipient['explanation']>['cause'];

/** Their remedy is in the DNS records of the sending domain. */
const DOMAIN_CAUSES: ReadonlySet<Cause> = new Set<Cause>([
  'not_authenticated',
  'policy_or_records',
  'dkim_failed',
  'spf_failed',
  'dmarc_failed',
  'signing_failed',
  'sender_address',
]);

/** Says what to do about an email that was not delivered and, if its domain may be the reason, how the domain is. */
export function NextStep({
  action,
  cause,
  from,
}: {
  readonly action: string;
  readonly cause: Cause | undefined;
  readonly from: string;
}) {
  return (
    <>
      <p>
        <span className="muted">{words.ended.action}</span> <LinkedText text={action} />
      </p>
      {cause !== undefined && DOMAIN_CAUSES.has(cause) && <SendingDomain name={domainIn(from)} />}
    </>
  );
}

function SendingDomain({ name }: { readonly name: string }) {
  const domain = useQuery(trpc.domains.get.queryOptions({ domain: name }));
  const text = words.ended.domain;
  if (!domain.data) return null;
  const wrong = domain.data.dns_records
    .filter(({ status }) => status !== 'ok')
    .map(({ purpose }) => domains.detail.purpose[purpose][0]);
  return (
    <p className="small">
      {wrong.length > 0 ? text.wrong(name, wrong.join(', ')) : text.right(name)}{' '}
      <Link to="/domains/$name" params={{ name }}>
        {text.view}
      </Link>
    </p>
  );
}
