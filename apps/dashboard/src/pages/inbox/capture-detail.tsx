import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Send, Trash2 } from 'lucide-react';
import { may, useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton, Id } from '../../parts/copy.tsx';
import { useAction } from '../../parts/dialogs/use-action.ts';
import { Facts, PageHeader, Panel } from '../../parts/page.tsx';
import { bytes } from '../../parts/sizes.ts';
import { ErrorPanel, Notice, QueryView } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { ExactTime } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import { CaptureContent } from './capture-content.tsx';
import { ReleaseCapture } from './release-capture.tsx';
import type { CaptureTab } from './search.ts';
import { words } from './strings.ts';

type Capture = Outputs['captures']['get'];

interface DetailProps {
  readonly id: string;
  readonly tab: CaptureTab;
  readonly onTab: (tab: CaptureTab) => void;
  readonly onGone: () => void;
  /** Whether the capture is shown in a drawer, with a link to its own page. */
  readonly drawn?: boolean;
}

/** Shows one captured email. It is read once because each read is recorded in the audit log. */
export function CaptureDetail(props: DetailProps) {
  const allowed = may(useMe(), 'admin');
  const capture = useQuery(
    trpc.captures.get.queryOptions({ id: props.id }, { enabled: allowed, staleTime: 'static', gcTime: 60_000 }),
  );
  if (!allowed) {
    return (
      <>
        <PageHeader title={words.title} />
        <Notice tone="calm">
          <p>{words.detail.denied}</p>
        </Notice>
      </>
    );
  }
  const head = !props.drawn && <PageHeader title={words.detail.heading} />;
  return (
    <QueryView query={capture} head={head}>
      {(data) => <CaptureView {...props} capture={data} />}
    </QueryView>
  );
}

function CaptureView({
  capture,
  tab,
  onTab,
  onGone,
  drawn: has_trace = false,
}: DetailProps & { readonly capture: Capture }) {
  const { action, open, close } = useAction();
  const remove = useMutation(
    trpc.captures.delete.mutationOptions({
      onSuccess() {
        toast(words.detail.removed);
        onGone();
      },
    }),
  );
  const text = words.detail;
  return (
    <>
      <PageHeader
        title={capture.subject || words.noSubject}
        answer={text.to(capture.to.join(', '))}
        actions={
          <>
            <Button needs="admin" busy={remove.isPending} onClick={() => remove.mutate({ id: capture.id })}>
              <Trash2 size={15} />
              {text.remove}
            </Button>
            <Button kind="primary" needs="email:send" onClick={() => open('release')}>
              <Send size={15} />
              {text.release}
            </Button>
          </>
        }
      />
      {remove.error !== null && <ErrorPanel error={remove.error} />}
      <LinksAndCodes capture={capture} />
      <Panel title={text.content}>
        <CaptureContent capture={capture} tab={tab} onTab={onTab} />
      </Panel>
      <Facts rows={factsOf(capture)} />
      {has_trace && (
        <p>
          <Link to="/emails/test-inbox/$id" params={{ id: capture.id }}>
            {text.openPage}
          </Link>
        </p>
      )}
      {action === 'release' && <ReleaseCapture id={capture.id} to={capture.to} onClose={close} />}
    </>
  );
}

/**
 * Lists the links and codes of an email for copying. Links are shown as text because a click may use up a single-use
 * link.
 */
function LinksAndCodes({ capture: { codes, links } }: { readonly capture: Capture }) {
  if (codes.length === 0 && links.length === 0) return null;
  const rows = (list: readonly string[], label: string) =>
    list.map((one) => (
      <li key={one} className="line">
        <span className="mono small breaks">{one}</span>
        <CopyButton text={one} what={label} />
      </li>
    ));
  return (
    <Panel title={words.detail.found}>
      <Facts
        rows={[
          [words.detail.codes, codes.length > 0 && <ul key="codes">{rows(codes, parts.texts.code)}</ul>],
          [words.detail.links, links.length > 0 && <ul key="links">{rows(links, parts.texts.link)}</ul>],
        ]}
      />
    </Panel>
  );
}

function factsOf({ id, from, to, email_id, received_at, size_bytes, attachments, headers }: Capture) {
  const text = words.detail;
  return [
    [words.columns.from, headers.find(({ name }) => name.toLowerCase() === 'from')?.value],
    [text.envelope, `${from || '<>'} → ${to.join(', ')}`],
    [text.received, <ExactTime key="at" at={received_at} />],
    [text.size, bytes(size_bytes)],
    [
      text.attachments,
      attachments.length > 0 && (
        <ul key="attachments">
          {attachments.map(({ filename, content_type, size_bytes: size }, at) => (
            <li key={`${at} ${filename}`}>
              {filename ?? text.unnamed}{' '}
              <span className="faint">
                {content_type}, {bytes(size)}
              </span>
            </li>
          ))}
        </ul>
      ),
    ],
    [
      text.email,
      email_id === null ? (
        text.otherProgram
      ) : (
        <Link key="email" to="/emails/$id" params={{ id: email_id }}>
          {text.trace}
        </Link>
      ),
    ],
    [text.id, <Id key="id" id={id} whole />],
  ] as const;
}
