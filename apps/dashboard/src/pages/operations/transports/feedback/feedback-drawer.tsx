import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, Clock, RefreshCw, Trash2 } from 'lucide-react';
import { client, trpc } from '../../../../api/trpc.ts';
import { Badge } from '../../../../parts/badge.tsx';
import { Button } from '../../../../parts/button.tsx';
import { useNow } from '../../../../parts/clock.ts';
import { CodeBlock } from '../../../../parts/copy.tsx';
import { Drawer } from '../../../../parts/dialog.tsx';
import { FormDialog } from '../../../../parts/dialogs/form-dialog.tsx';
import { useAction } from '../../../../parts/dialogs/use-action.ts';
import { Facts } from '../../../../parts/page.tsx';
import { Empty, QueryView } from '../../../../parts/states.tsx';
import { ExactTime, RelativeTime } from '../../../../parts/times.tsx';
import { toast } from '../../../../parts/toasts.tsx';
import type { Reach } from '../../reach/use-reach.ts';
import { needs } from '../paths.ts';
import type { Transport } from '../transport.ts';
import { EventList } from './event-list.tsx';
import { type Feedback, receptionOf } from './feedback.ts';
import { SetFeedback } from './set-feedback.tsx';
import { words } from './strings.ts';

const badges = {
  none: ['wait', Clock],
  rejected: ['bad', CircleAlert],
  received: ['good', CircleCheck],
} as const;

/** Shows how a relay reports bounces and complaints, and its last reports, and sets that up. */
export function FeedbackDrawer({
  reach,
  transport,
  onClose,
}: {
  readonly reach: Reach;
  readonly transport: Transport;
  readonly onClose: () => void;
}) {
  const { id: transport_id, name } = transport;
  const feedback = useQuery(trpc.transports.feedback.queryOptions({ transport_id }));
  const { action, open, close } = useAction();
  return (
    <>
      <Drawer title={words.title(name)} onClose={onClose}>
        <QueryView query={feedback}>
          {(current) =>
            current === null ? (
              <Empty title={words.empty.title}>
                <p>{words.empty.about}</p>
                <Button kind="primary" needs={needs[reach]} onClick={() => open('setFeedback')}>
                  {words.set}
                </Button>
              </Empty>
            ) : (
              <FeedbackView
                reach={reach}
                feedback={current}
                onReplace={() => open('setFeedback')}
                onRemove={() => open('removeFeedback')}
              />
            )
          }
        </QueryView>
        <p className="muted small">
          {words.about}{' '}
          <a href="/docs/feedback" target="_blank" rel="noreferrer">
            {words.docs}
          </a>
        </p>
      </Drawer>
      {action === 'setFeedback' && feedback.data !== undefined && (
        <SetFeedback transport={transport} feedback={feedback.data} onClose={close} />
      )}
      {action === 'removeFeedback' && feedback.data && (
        <FormDialog
          title={words.removing.title(name)}
          about={words.removing.about}
          keep={words.removing.keep}
          submit={words.removing.submit}
          danger
          run={() => client.transports.removeFeedback.mutate({ transport_id })}
          onDone={() => toast(words.removing.done(name))}
          onClose={close}
        />
      )}
    </>
  );
}

function FeedbackView({
  reach,
  feedback,
  onReplace,
  onRemove,
}: {
  readonly reach: Reach;
  readonly feedback: Feedback;
  readonly onReplace: () => void;
  readonly onRemove: () => void;
}) {
  const { provider, url, confirmed_at, rejected_at, rejection, previous_until, events } = feedback;
  const now = useNow();
  const reception = receptionOf(feedback);
  const [tone, icon] = badges[reception];
  return (
    <div className="stack">
      <div>
        <Badge tone={tone} icon={icon}>
          {words.answer[reception]}
        </Badge>
      </div>
      <div className="stack-s">
        <h3>{words.url}</h3>
        <CodeBlock text={url} what={words.url} />
        <p className="muted small">{words.providers[provider].setup}</p>
      </div>
      <Facts
        rows={[
          [words.provider, words.providers[provider].name],
          [words.lastRequest, confirmed_at === null ? words.never : <RelativeTime key="last" at={confirmed_at} />],
          [
            words.problem,
            rejected_at !== null && (
              <span key="problem">
                {rejection}{' '}
                <span className="muted">
                  (<RelativeTime at={rejected_at} />)
                </span>
              </span>
            ),
          ],
          [
            words.previous,
            previous_until !== null && Date.parse(previous_until) > now && (
              <span key="previous">
                {words.accepted} <ExactTime at={previous_until} />
              </span>
            ),
          ],
        ]}
      />
      <div className="line">
        <Button small needs={needs[reach]} onClick={onReplace}>
          <RefreshCw size={14} />
          {words.replace}
        </Button>
        <Button small kind="danger" needs={needs[reach]} onClick={onRemove}>
          <Trash2 size={14} />
          {words.remove}
        </Button>
      </div>
      <h3>{words.events.title}</h3>
      {events.length === 0 ? <p className="muted">{words.events.none}</p> : <EventList events={events} />}
    </div>
  );
}
