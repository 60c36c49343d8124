import { useStore } from '../../../api/store.ts';
import type { Outputs } from '../../../api/trpc.ts';
import { CodeBlock, Id } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { List } from '../../../parts/list.tsx';
import { Facts } from '../../../parts/page.tsx';
import { ExactTime, inUtc } from '../../../parts/times.tsx';
import { actionWord } from './action-words.ts';
import { readDiff } from './diff.ts';
import { words } from './strings.ts';

type Entry = Outputs['audit']['list']['data'][number];

export function EntryDrawer({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { kind, name } = entry.actor;
  return (
    <Drawer title={actionWord(entry.action)} onClose={onClose}>
      <Facts
        rows={[
          [words.columns.at, <ExactTime key="at" at={entry.at} />],
          [words.columns.actor, `${name} (${words.actorKinds[kind]})`],
          [words.columns.target, <Id key="target" id={entry.target_id} whole />],
          [words.columns.reason, entry.reason],
        ]}
      />
      {entry.diff && <Diff diff={entry.diff} />}
      <Facts
        rows={[
          [words.wire, <code key="wire">{entry.action}</code>],
          [words.columns.via, entry.via],
          [words.address, entry.address],
          [words.request, <Id key="request" id={entry.request_id} />],
          [words.sequence, String(entry.sequence)],
        ]}
      />
    </Drawer>
  );
}

function Diff({ diff }: { readonly diff: NonNullable<Entry['diff']> }) {
  const utc = useStore(inUtc);
  const { changes, details, others } = readDiff(diff, utc);
  const { title, details: detailsWord, field, before, after, value } = words.diff;
  return (
    <div className="audit-diff stack">
      {changes.length > 0 && (
        <List
          label={title}
          rows={changes}
          idOf={(change) => change.field}
          nameOf={(change) => change.field}
          columns={[
            { name: field, width: '34%', wraps: true, show: (change) => change.field },
            { name: before, wraps: true, show: (change) => change.before },
            { name: after, wraps: true, show: (change) => change.after },
          ]}
        />
      )}
      {details.length > 0 && (
        <List
          label={detailsWord}
          rows={details}
          idOf={(detail) => detail.field}
          nameOf={(detail) => detail.field}
          columns={[
            { name: field, width: '34%', wraps: true, show: (detail) => detail.field },
            { name: value, wraps: true, show: (detail) => detail.value },
          ]}
        />
      )}
      {Object.keys(others).length > 0 && <CodeBlock what={title} text={JSON.stringify(others, null, 2)} />}
    </div>
  );
}
