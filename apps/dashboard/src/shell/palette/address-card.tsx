import { useRouter } from '@tanstack/react-router';
import { Command as Cmdk } from 'cmdk';
import { Ban, CircleCheck, CirclePause, Mail } from 'lucide-react';
import type { ReactNode } from 'react';
import { may, useMe } from '../../api/me.ts';
import { MailBadge } from '../../parts/mail-status.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { hrefOf } from '../paths.ts';
import { words } from '../strings.ts';
import type { AddressSummary } from './results.ts';

const text = words.palette.address;

/** Answers for one address whether email reaches it: its suppression, its holds, and how its newest emails ended. */
export function AddressCard({
  summary,
  onChoose,
}: {
  readonly summary: AddressSummary;
  readonly onChoose: (run: () => void) => void;
}) {
  const { history } = useRouter();
  const sees_holds = may(useMe(), 'admin');
  const { email, suppression, holds, emails } = summary;
  const item = (id: string, path: string, children: ReactNode) => (
    <Cmdk.Item key={id} value={id} className="option" onSelect={() => onChoose(() => history.push(hrefOf(path)))}>
      {children}
    </Cmdk.Item>
  );
  const search = encodeURIComponent(`to:${email}`);
  return (
    <Cmdk.Group className="address-card" heading={email}>
      {suppression ? (
        item(
          'suppression',
          `/suppressions?email=${encodeURIComponent(email)}`,
          <>
            <Ban size={16} color="var(--bad)" aria-hidden />
            <span className="cut">{text.suppressed[suppression.source]}</span>
            <span className="faint small">
              <RelativeTime at={suppression.created_at} />
            </span>
          </>,
        )
      ) : (
        <p className="fact">
          <CircleCheck size={16} color="var(--good)" aria-hidden />
          {text.notSuppressed}
        </p>
      )}
      {holds.length === 0 && sees_holds && (
        <p className="fact">
          <CircleCheck size={16} color="var(--good)" aria-hidden />
          {text.notHeld}
        </p>
      )}
      {holds.map((hold) =>
        sees_holds ? (
          item(hold.id, '/delivery/holds', <HoldLine hold={hold} />)
        ) : (
          <p key={hold.id} className="fact">
            <HoldLine hold={hold} />
          </p>
        ),
      )}
      {emails.map(({ id, recipient_id, subject, status, captured, created_at }) =>
        item(
          recipient_id,
          `/emails/${id}`,
          <>
            <MailBadge status={status} captured={captured} />
            <span className="cut">{subject || text.noSubject}</span>
            <span className="faint small">
              <RelativeTime at={created_at} />
            </span>
          </>,
        ),
      )}
      {emails.length === 0 ? (
        <p className="fact muted">{text.noEmail}</p>
      ) : (
        item(
          'all email',
          `/emails?q=${search}`,
          <>
            <Mail size={16} aria-hidden />
            <span className="cut">{text.all}</span>
          </>,
        )
      )}
    </Cmdk.Group>
  );
}

function HoldLine({ hold: { reason, expires_at } }: { readonly hold: AddressSummary['holds'][number] }) {
  return (
    <>
      <CirclePause size={16} color="var(--wait)" aria-hidden />
      <span className="cut">{text.held(reason)}</span>
      {expires_at !== null && (
        <span className="faint small">
          <RelativeTime at={expires_at} upcoming />
        </span>
      )}
    </>
  );
}
