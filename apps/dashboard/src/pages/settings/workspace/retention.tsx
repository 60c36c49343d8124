import { Link } from '@tanstack/react-router';
import type { Outputs } from '../../../api/trpc.ts';
import { type Column, List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { bytes } from '../../../parts/sizes.ts';
import { Notice } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type Retention = Outputs['workspaces']['retention'];
type Kind = Retention['kinds'][number];

/**
 * Shows how long data is retained and whether email leaves the machine. These are instance settings, which cannot be
 * changed here.
 */
export function RetentionPanel({ retention }: { readonly retention: Retention }) {
  const { kinds, delivery, captured_bytes, request_log, transcripts } = retention;
  const captures = delivery.includes('capture');
  return (
    <>
      <Panel title={words.capture.title}>
        <div className="stack-s">
          <Notice tone={captures ? 'wait' : 'good'}>
            <p>{captures ? words.capture.on : words.capture.off(delivery.map((kind) => words.capture.ways[kind]))}</p>
          </Notice>
          <p className="muted small">
            {words.capture.about(bytes(captured_bytes))} <Link to="/inbox">{words.capture.inbox}</Link>
          </p>
        </div>
      </Panel>
      <Panel title={words.kept.title} bare>
        <List
          label={words.kept.title}
          columns={columns({ request_log, transcripts })}
          rows={kinds}
          idOf={({ kind }) => kind}
          nameOf={({ kind }) => words.kept.kinds[kind][0]}
        />
        <p className="pad muted small">
          {words.kept.about} <Link to="/settings/erasures">{words.kept.erase}</Link>
        </p>
      </Panel>
    </>
  );
}

function columns({
  request_log,
  transcripts,
}: Pick<Retention, 'request_log' | 'transcripts'>): readonly Column<Kind>[] {
  const { kind: kind_label, covers, age, setting } = words.kept.columns;
  const descriptionOf = (kind: Kind['kind']) => {
    if (kind === 'requests' && !request_log) return words.kept.noRequests;
    if (kind === 'transcripts' && transcripts === 'failures') return words.kept.failuresOnly;
    return words.kept.kinds[kind][1];
  };
  return [
    { name: kind_label, width: '22%', show: ({ kind }) => <strong>{words.kept.kinds[kind][0]}</strong> },
    { name: covers, less: true, wraps: true, show: ({ kind }) => <span className="muted">{descriptionOf(kind)}</span> },
    {
      name: age,
      width: 'fit',
      end: true,
      show: ({ kept_seconds }) =>
        kept_seconds === null ? words.kept.always : <span className="num">{span(kept_seconds)}</span>,
    },
    { name: setting, width: 'fit', less: true, show: (row) => <code className="small">{row.setting}</code> },
  ];
}
