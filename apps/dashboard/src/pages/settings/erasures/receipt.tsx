import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { CodeBlock, Id } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Facts } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { ExactTime } from '../../../parts/times.tsx';
import { ErasureBadge } from './erasure-badge.tsx';
import { words } from './strings.ts';

type Erasure = Outputs['erasures']['get'];
type Line = readonly [string, number];

/** Shows what was erased and what remains. The receipt contains no address. */
export function Receipt({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const erasure = useQuery(trpc.erasures.get.queryOptions({ id }));
  return (
    <Drawer title={words.receipt.title} onClose={onClose}>
      <QueryView query={erasure}>{(data) => <ErasureView erasure={data} />}</QueryView>
    </Drawer>
  );
}

function ErasureView({ erasure }: { readonly erasure: Erasure }) {
  const { id, status, counts, remains, created_at, finished_at } = erasure;
  const text = words.receipt;
  // The strings include every kind that is counted.
  const kinds = Object.keys(words.kinds) as (keyof typeof words.kinds)[];
  const lines = kinds.flatMap((kind): Line[] => (counts[kind] > 0 ? [[words.kinds[kind], counts[kind]]] : []));
  return (
    <>
      <p>
        <ErasureBadge status={status} />
      </p>
      <div className="stack-s">
        <h3>{text.counted}</h3>
        {lines.length === 0 ? (
          status === 'completed' && <p className="muted">{text.nothing}</p>
        ) : (
          <List label={text.counted} columns={columns} rows={lines} idOf={([name]) => name} nameOf={([name]) => name} />
        )}
      </div>
      <div className="stack-s">
        <h3>{text.remains}</h3>
        <ul className="muted">
          {remains.map((place) => (
            <li key={place}>{place}</li>
          ))}
        </ul>
      </div>
      <Facts
        rows={[
          [text.started, <ExactTime key="started" at={created_at} />],
          [text.finished, finished_at && <ExactTime key="finished" at={finished_at} />],
          [text.id, <Id key="id" id={id} whole />],
        ]}
      />
      <div className="stack-s">
        <h3>{text.rest}</h3>
        <CodeBlock
          text={`curl ${location.origin}/v1/erasures/${id} \\\n  -H 'Authorization: Bearer <API key>'`}
          what={parts.texts.curl}
        />
      </div>
    </>
  );
}

const columns: readonly Column<Line>[] = [
  { name: words.receipt.what, wraps: true, show: ([name]) => name },
  {
    name: words.receipt.count,
    width: 'fit',
    end: true,
    show: ([, count]) => <span className="num">{count.toLocaleString('en')}</span>,
  },
];
