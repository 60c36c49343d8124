import type { Outputs } from '../../../api/trpc.ts';
import { type Column, List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { span } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type Retention = Outputs['workspaces']['retention'];
type Kind = Retention['kinds'][number];

/** Shows how long data is retained. These are instance settings, which cannot be changed here. */
export function KeptPanel({ retention }: { readonly retention: Retention }) {
  const { kinds, request_log, transcripts } = retention;
  return (
    <Panel title={words.kept.title} bare>
      <List
        label={words.kept.title}
        columns={columns({ request_log, transcripts })}
        rows={kinds}
        idOf={({ kind }) => kind}
        nameOf={({ kind }) => words.kept.kinds[kind][0]}
      />
      <p className="pad muted small">{words.kept.about}</p>
    </Panel>
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
