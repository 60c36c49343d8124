import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../../../api/me.ts';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Choices, Field } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { Notice, QueryView } from '../../../parts/states.tsx';
import { ExactTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { targetOf, words } from './strings.ts';

type Hold = Outputs['holds']['get'];
type Entry = Outputs['audit']['list']['data'][number];
type Way = 'ramp' | 'at_once';

const DEFAULT_RATE = 60;
/** The only queue whose backlog is sent at a rate. */
const RATED_QUEUE = 'delivery.attempt';

/** Asks how fast the backlog should resume, and releases the hold. */
export function ReleaseHold({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const hold = useQuery(trpc.holds.get.queryOptions({ hold_id: id }));
  return <QueryView query={hold}>{(data) => <Release hold={data} onClose={onClose} />}</QueryView>;
}

/**
 * Returns the audit entry if someone else released the hold first. Both releases get the same response, but only the
 * first one counts.
 */
async function releasedByAnother(hold: Hold, own_id: string): Promise<Entry | null> {
  const chain = hold.workspace_id === null ? 'instance' : 'workspace';
  const filter = { chain, target_id: hold.id, action: 'hold.released', limit: 1 } as const;
  // An operator may release a workspace's hold without permission to read its log.
  const audit_log = await client.audit.list.query(filter).catch(() => null);
  const entry = audit_log?.data[0];
  return entry && entry.actor.id !== own_id ? entry : null;
}

function Release({ hold, onClose }: { readonly hold: Hold; readonly onClose: () => void }) {
  const text = words.releasing;
  const target = targetOf(hold);
  const rated = hold.scope !== 'queue' || hold.value === RATED_QUEUE;
  const [method, setMethod] = useState<Way>(rated ? 'ramp' : 'at_once');
  const me = useMe();
  const release = async (form: FormData) => {
    const [rate, reason] = [Number(form.get('rate')), reasonIn(form)];
    await client.holds.release.mutate({
      hold_id: hold.id,
      ...(reason && { reason }),
      ...(method === 'at_once' ? { at_once: true } : { resume_rate_per_minute: rate }),
    });
    return { rate, other: await releasedByAnother(hold, me.id) };
  };
  return (
    <FormDialog
      title={text.title(target)}
      about={text.about(hold.affected, hold.reason, hold.created_by.name)}
      submit={text.submit}
      run={release}
      next={({ other }) => other && <Conflict title={text.title(target)} entry={other} onClose={onClose} />}
      onDone={({ rate, other }) => {
        if (!other) toast(method === 'ramp' ? text.ramped(target, rate) : words.released(target));
      }}
      onClose={onClose}
    >
      {(problems) => (
        <>
          {rated && (
            <div className="field">
              <span className="label">{text.how}</span>
              <Choices<Way>
                label={text.how}
                options={[
                  ['ramp', text.ways.ramp],
                  ['at_once', text.ways.at_once],
                ]}
                value={method}
                onChange={setMethod}
              />
            </div>
          )}
          {method === 'ramp' && (
            <Field
              label={text.rate}
              name="rate"
              about={text.rateAbout}
              problem={problems.get('resume_rate_per_minute')}
            >
              {(control) => (
                <input
                  {...control}
                  className="input"
                  type="number"
                  min={1}
                  max={60_000}
                  defaultValue={hold.resume_rate_per_minute ?? DEFAULT_RATE}
                  required
                />
              )}
            </Field>
          )}
          <ReasonField problem={problems.get('reason')} most={1000} />
        </>
      )}
    </FormDialog>
  );
}

function Conflict({
  title,
  entry,
  onClose,
}: {
  readonly title: string;
  readonly entry: Entry;
  readonly onClose: () => void;
}) {
  const text = words.releasing;
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="wait" alert>
        <p>
          {text.conflict(entry.actor.name)} <ExactTime at={entry.at} />. {text.unchanged}
        </p>
      </Notice>
      <div className="actions">
        <Button kind="primary" onClick={onClose}>
          {text.close}
        </Button>
      </div>
    </Dialog>
  );
}
