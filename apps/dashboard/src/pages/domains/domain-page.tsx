import { useMutation } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Download, RefreshCw } from 'lucide-react';
import { problemOf } from '../../api/problem.ts';
import { client, trpc } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmByName } from '../../parts/dialogs/confirm-by-name.tsx';
import { saveAs } from '../../parts/download.ts';
import { Page, PageHeader, Panel } from '../../parts/page.tsx';
import { Notice, QueryView } from '../../parts/states.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import './domains.css';
import { calls } from '../../parts/calls/api-calls.ts';
import { SameByApi } from '../../parts/calls/same-by-api.tsx';
import { type Domain, domainStates, failing } from './domain.ts';
import { DomainAction, DomainMenu } from './domain-actions.tsx';
import { RecordCard } from './record-card.tsx';
import { words } from './strings.ts';
import { useDomain } from './use-domain.ts';

export function DomainPage() {
  const { name } = useParams({ from: '/shell/domains/$name' });
  const { open } = useSearch({ from: '/shell/domains/$name' });
  const navigate = useNavigate({ from: '/domains/$name' });
  const { query, verify, live } = useDomain(name);
  const close = () => void navigate({ search: {}, replace: true });
  return (
    <Page>
      <QueryView query={query} lines={10} head={<PageHeader title={name} />}>
        {(domain) => (
          <>
            <PageHeader
              name={domain.name}
              title={
                <span className="line">
                  {domain.name} <DomainBadge status={domain.status} />
                </span>
              }
              answer={answerOf(domain)}
              actions={
                domain.dns_records.length > 0 && (
                  <>
                    <ZoneFile name={domain.name} />
                    <DomainMenu domain={domain} onOpen={(dialog) => void navigate({ search: { open: dialog } })} />
                    <Button
                      kind="primary"
                      needs="domains:write"
                      busy={verify.isPending}
                      onClick={() => verify.mutate({ domain: name })}
                    >
                      <RefreshCw size={14} />
                      {words.detail.verify}
                    </Button>
                  </>
                )
              }
            />
            {domain.status_reason !== null && domain.dns_records.length > 0 && (
              <Notice tone={domain.status === 'verified' ? 'info' : 'wait'}>
                <p>{domain.status_reason}</p>
              </Notice>
            )}
            {domain.dns_records.length > 0 && (
              <Panel title={words.detail.records} actions={<CheckedAt domain={domain} live={live} />} bare>
                <ul className="records">
                  {domain.dns_records.map((record) => (
                    <RecordCard key={`${record.type} ${record.fqdn} ${record.value}`} record={record} />
                  ))}
                </ul>
              </Panel>
            )}
            {domain.dns_records.length > 0 && <SecondSignature domain={domain} />}
            {domain.dns_records.length > 0 && <SameByApi call={calls.verifyDomain(domain.name, domain.id)} />}
            {open === 'remove' && <RemoveDomain domain={domain} onClose={close} />}
            {open !== undefined && open !== 'remove' && <DomainAction domain={domain} action={open} onClose={close} />}
          </>
        )}
      </QueryView>
    </Page>
  );
}

function DomainBadge({ status }: Pick<Domain, 'status'>) {
  const { tone, icon, word, about: description } = domainStates[status];
  return (
    <Badge tone={tone} icon={icon} title={description}>
      {word}
    </Badge>
  );
}

function answerOf(domain: Domain): string {
  if (domain.dns_records.length === 0) return words.detail.sandbox;
  const wrong = failing(domain).length;
  if (wrong > 0 && domain.last_checked_at === null) return words.detail.fresh(wrong, domain.dns_records.length);
  return wrong > 0 ? words.detail.todo(wrong) : words.detail.can(domain.name);
}

function CheckedAt({ domain, live }: { readonly domain: Domain; readonly live: boolean }) {
  return (
    <span className="line small muted">
      {live && (
        <span>
          <i className="dot" aria-hidden /> {words.detail.live}
        </span>
      )}
      {!live && domain.last_checked_at && (
        <span>
          {words.detail.checked} <RelativeTime at={domain.last_checked_at} />
          {domain.next_check_at && (
            <>
              , {words.detail.next} <RelativeTime at={domain.next_check_at} upcoming />
            </>
          )}
        </span>
      )}
    </span>
  );
}

function ZoneFile({ name }: { readonly name: string }) {
  const load = useMutation(
    trpc.domains.examine.mutationOptions({
      onSuccess: ({ zone_file }) => saveAs(`${name}.zone`, zone_file, 'text/dns'),
    }),
  );
  return (
    <Button onClick={() => load.mutate({ domain: name })} busy={load.isPending}>
      <Download size={14} />
      {words.detail.download}
    </Button>
  );
}

function SecondSignature({ domain: { name, dkim_ed25519: enabled } }: { readonly domain: Domain }) {
  const change = useMutation(
    trpc.domains.update.mutationOptions({ onError: (error) => toast(problemOf(error).message, 'bad') }),
  );
  return (
    <Panel
      title={words.second.title}
      actions={
        <Button
          needs="domains:write"
          busy={change.isPending}
          onClick={() => change.mutate({ domain: name, dkim_ed25519: !enabled })}
        >
          {enabled ? words.second.turnOff : words.second.turnOn}
        </Button>
      }
    >
      <p>{enabled ? words.second.on : words.second.off}</p>
    </Panel>
  );
}

function RemoveDomain({ domain: { name, id }, onClose }: { readonly domain: Domain; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const { title, done, ...text } = words.removing;
  return (
    <ConfirmByName
      {...text}
      title={title(name)}
      name={name}
      call={calls.removeDomain(name, id)}
      run={() => client.domains.delete.mutate({ domain: name })}
      onDone={() => {
        toast(done(name));
        void navigate({ to: '/domains' });
      }}
      onClose={onClose}
    />
  );
}
