import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client, type Inputs } from '../../../api/trpc.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { Answered, ErrorPanel, Notice } from '../../../parts/states.tsx';
import { words } from './strings.ts';

export type BulkAction = Inputs['ops']['bulkPreview']['action'];

export interface BulkPlan {
  readonly action: BulkAction;
  readonly filter: Readonly<Record<string, unknown>>;
  /** The action and its target, such as "Give up mail to example.net". */
  readonly title: string;
}

/** Previews what a bulk action would touch, asks for the reason, and starts it on the server. */
export function BulkDialog({ plan, onClose }: { readonly plan: BulkPlan; readonly onClose: () => void }) {
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
        <Answered query={preview}>{(found) => <Previewed plan={plan} found={found} onClose={onClose} />}</Answered>
      )}
    </Dialog>
  );
}

type Found = Awaited<ReturnType<typeof client.ops.bulkPreview.mutate>>;

function Previewed({
  plan,
  found,
  onClose,
}: {
  readonly plan: BulkPlan;
  readonly found: Found;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const text = words.dialog;
  const run = useMutation({
    mutationFn: (given: { readonly reason: string; readonly rate_per_second: number }) =>
      client.ops.bulkRun.mutate({ token: found.token, ...given }),
    onSuccess: ({ id }) => void navigate({ to: '/operations/bulk/$id', params: { id } }),
  });
  const submit = (form: FormData) => {
    const reason = reasonIn(form);
    if (!run.isPending) run.mutate({ reason, rate_per_second: Number(form.get('rate')) || 100 });
  };
  const count = found.matched.toLocaleString('en');
  if (found.matched === 0) return <p>{text.none}</p>;
  return (
    <Form label={plan.title} onSubmit={submit} fault={run.error}>
      <p>
        <strong>{text.matched(count, found.matched_exact)}</strong>
      </p>
      {plan.action === 'give_up' && <p>{text.wholeMails}</p>}
      {found.skipped.map(({ reason, count: left }) => (
        <p key={reason} className="muted small">
          {text.skipped(left, reason)}
        </p>
      ))}
      {found.warning !== null && (
        <Notice tone="wait">
          <p>{found.warning}</p>
        </Notice>
      )}
      <details>
        <summary>{text.sample}</summary>
        <ul className="mono small">
          {found.sample.map((id) => (
            <li key={id}>{id}</li>
          ))}
        </ul>
      </details>
      {run.error !== null && <ErrorPanel error={run.error} />}
      <ReasonField about={text.reasonAbout} required first />
      <Field label={text.rate} name="rate">
        {(control) => <input {...control} className="input" type="number" min={1} max={1000} defaultValue={100} />}
      </Field>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {text.cancel}
        </button>
        <button type="submit" className="button danger primary" aria-busy={run.isPending}>
          {text.submit(words.actions[plan.action], count)}
        </button>
      </div>
    </Form>
  );
}
