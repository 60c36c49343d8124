import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { type Column, List } from '../../parts/list.tsx';
import { Facts } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { ExactTime, spanMs } from '../../parts/times.tsx';
import { correctedCurl } from './correction.ts';
import { words } from './strings.ts';

type Request = Outputs['requests']['get'];
type Fault = Request['faults'][number];

const SANDBOX = 'sandbox.test';

/** Shows one rejected request: what was wrong, and a corrected version. */
export function RequestDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const request = useQuery(trpc.requests.get.queryOptions({ id }, { staleTime: 'static' }));
  return (
    <Drawer title={request.data ? `${request.data.method} ${request.data.path}` : words.title} onClose={onClose}>
      <QueryView query={request}>{(data) => <RequestView request={data} />}</QueryView>
    </Drawer>
  );
}

function RequestView({ request }: { readonly request: Request }) {
  const domains = useQuery(trpc.domains.list.queryOptions({ limit: 100 }));
  const senders = domains.data?.data.filter(({ can_send }) => can_send).map(({ name }) => name) ?? [];
  const curl = correctedCurl(request, senders.length > 0 ? senders : [SANDBOX]);
  const text = words.detail;
  return (
    <>
      <p>{request.message}</p>
      <p className="line small">
        <span className="mono">{request.reason}</span>
        <a href={`/errors/${encodeURIComponent(request.reason)}`} target="_blank" rel="noreferrer">
          {text.whatToDo}
        </a>
      </p>
      {request.faults.length > 0 && (
        <div className="stack-s">
          <h3>{text.faults}</h3>
          <List
            label={text.faults}
            columns={faultColumns}
            rows={request.faults}
            idOf={({ pointer, reason }) => `${pointer} ${reason}`}
            nameOf={({ pointer }) => pointer}
          />
        </div>
      )}
      {curl !== null && (
        <div className="stack-s">
          <h3>{text.corrected}</h3>
          <p className="small muted">{text.correctedAbout}</p>
          <CodeBlock text={curl} what={parts.texts.correctedRequest} />
        </div>
      )}
      <div className="stack-s">
        <h3>{text.body}</h3>
        {request.body === null || request.body === undefined ? (
          <p className="muted">{text.noBody}</p>
        ) : (
          <>
            <p className="small muted">{text.bodyAbout}</p>
            <CodeBlock text={JSON.stringify(request.body, null, 2)} what={parts.texts.requestBody} />
          </>
        )}
      </div>
      <Facts
        rows={[
          [text.status, String(request.status)],
          [text.at, <ExactTime key="at" at={request.at} />],
          [text.took, spanMs(request.duration_ms)],
          [text.key, request.api_key_id && <Id key="key" id={request.api_key_id} whole />],
          [text.person, request.user_id && <Id key="person" id={request.user_id} whole />],
          [text.id, <Id key="id" id={request.id} whole />],
        ]}
      />
    </>
  );
}

const faultColumns: readonly Column<Fault>[] = [
  { name: words.detail.place, width: '26%', show: ({ pointer }) => <strong className="mono">{pointer}</strong> },
  { name: words.detail.message, show: ({ message }) => <span title={message}>{message}</span> },
];
