import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, type Inputs } from '../../../api/trpc.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogForm } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { Notice, QueryView } from '../../../parts/states.tsx';
import { useReach } from '../reach/use-reach.ts';
import { paths } from './paths.ts';
import { words } from './strings.ts';

export type BulkAction = Inputs['ops']['bulkPreview']['action'];

export interface BulkPlan {
  readonly action: BulkAction;
  readonly filter: Readonly<Record<string, unknown>>;
  /** The action and its target, such as "Give up mail to example.net". */
  readonly title: string;
}

/** Previews what a bulk action would affect, asks for a reason, and starts it on the server. */
export function BulkDialog({ plan: initial_plan, onClose }: { readonly plan: BulkPlan; readonly onClose: () => void }) {
  // Ages in a plan are relative to now, so a rerender must not preview a different plan.
  const [plan] = useState(initial_plan);
  const preview = useQuery({
    queryKey: ['bulk', 'preview', plan],
    queryFn: () => client.ops.bulkPreview.mutate({ action: plan.action, filter: plan.filter }),
    // Never cached: a token starts one run, so each dialog needs its own.
    gcTime: 0,
    staleTime: 'static',
  });
  return (
    <Dialog title={plan.title} onClose={onClose}>
      {preview.isPending && <p role="status">{words.dialog.looking}</p>}
      {(preview.data ?? preview.error) !== null && !preview.isPending && (
        <QueryView query={preview}>{(data) => <PreviewForm plan={plan} result={data} onClose={onClose} />}</QueryView>
      )}
    </Dialog>
  );
}

type Preview = Awaited<ReturnType<typeof client.ops.bulkPreview.mutate>>;

function PreviewForm({
  plan,
  result: data,
  onClose,
}: {
  readonly plan: BulkPlan;
  readonly result: Preview;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const path = paths[useReach()];
  const text = words.dialog;
  const count = data.matched.toLocaleString('en');
  if (data.matched === 0) return <p>{text.none}</p>;
  return (
    <>
      <p>
        <strong>{text.matched(count, data.matched_exact)}</strong>
      </p>
      {plan.action === 'give_up' && <p>{text.entireEmails}</p>}
      {data.skipped.map(({ reason, count: left }) => (
        <p key={reason} className="muted small">
          {text.skipped(left, reason)}
        </p>
      ))}
      {data.warning !== null && (
        <Notice tone="wait">
          <p>{data.warning}</p>
        </Notice>
      )}
      <details>
        <summary>{text.sample}</summary>
        <ul className="mono small">
          {data.sample.map((id) => (
            <li key={id}>{id}</li>
          ))}
        </ul>
      </details>
      <DialogForm
        title={plan.title}
        submit={text.submit(words.actions[plan.action], count)}
        danger
        run={(form) => {
          const rate_per_second = Number(form.get('rate')) || 100;
          return client.ops.bulkRun.mutate({ token: data.token, reason: reasonIn(form), rate_per_second });
        }}
        onDone={({ id }) => void navigate({ to: `${path}/$id`, params: { id } })}
        onClose={onClose}
      >
        {(problems) => (
          <>
            <ReasonField about={text.reasonAbout} problem={problems.get('reason')} required first />
            <Field label={text.rate} name="rate" problem={problems.get('rate_per_second')}>
              {(control) => (
                <input {...control} className="input" type="number" min={1} max={1000} defaultValue={100} />
              )}
            </Field>
          </>
        )}
      </DialogForm>
    </>
  );
}
