import { Badge } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { type DnsRecord, recordStates } from './domain.ts';
import { words } from './strings.ts';

/** Shows one record: its purpose, what to publish, what name servers return, and how to fix it. */
export function RecordCard({ record }: { readonly record: DnsRecord }) {
  const { purpose, required, type, host, fqdn, value, ttl, status, hint, observed } = record;
  const [name, description] = words.detail.purpose[purpose];
  const { tone, icon, word } = recordStates[status];
  const text = words.detail;
  return (
    <li className="record">
      <div className="line spread">
        <span className="line">
          <h3>{name}</h3>
          <span className="chip">{required ? text.required : text.recommended}</span>
          <span className="muted small">{description}</span>
        </span>
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
      </div>
      <dl className="record-values">
        <Value name={text.type} value={type} what={words.recordText.type(name)} />
        <Value name={text.host} value={host} what={words.recordText.host(name)} />
        <Value name={text.fqdn} value={fqdn} what={words.recordText.fqdn(name)} />
        <Value name={text.value} value={value} what={words.recordText.value(name)} wide />
        <Value name={text.ttl} value={String(ttl)} what={words.recordText.ttl(name)} />
      </dl>
      {/* Its line is there before the first check, so that the records below do not move. */}
      {status !== 'ok' && <p className={`record-hint ${tone}-text`}>{hint}</p>}
      <details className="small" open={status === 'mismatch' || status === 'multiple' || status === 'truncated'}>
        <summary>{text.observed}</summary>
        {observed.length === 0 && <p className="muted">{text.unchecked}</p>}
        <ul className="observed">
          {observed.map((one) => (
            <li key={one.resolver}>
              <span className="mono">{one.resolver}</span>{' '}
              <span className="chip">{one.authoritative ? text.authoritative : text.cache}</span>{' '}
              <code>{one.values.length > 0 ? one.values.join(' · ') : text.nothing}</code>{' '}
              {one.ttl !== null && <span className="faint">{`${text.ttl} ${one.ttl}`}</span>}
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

function Value({
  name,
  value,
  what: label,
  wide = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly what: string;
  readonly wide?: boolean;
}) {
  return (
    <div className={wide ? 'wide' : ''}>
      <dt>{name}</dt>
      <dd>
        <code>{value}</code>
        <CopyButton text={value} what={label} />
      </dd>
    </div>
  );
}
