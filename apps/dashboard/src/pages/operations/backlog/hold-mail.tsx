import { useMutation, useQueryClient } from '@tanstack/react-query';
import { problemOf } from '../../../api/problem.ts';
import { client, type Inputs, trpc } from '../../../api/trpc.ts';
import { nowMs } from '../../../parts/clock.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type NewHold = Inputs['holds']['create'];
export type HoldPlan = Pick<NewHold, 'scope' | 'value'>;

const HOUR_MS = 3_600_000;

export function HoldMail({ plan, onClose }: { readonly plan: HoldPlan; readonly onClose: () => void }) {
  const cache = useQueryClient();
  const text = words.holding;
  const hold = useMutation({
    mutationFn: (given: NewHold) => client.holds.create.mutate(given),
    async onSuccess() {
      toast(text.done(plan.value));
      onClose();
      await cache.invalidateQueries({ queryKey: trpc.ops.pathKey() });
    },
  });
  const problem = hold.error && problemOf(hold.error);
  const submit = (form: FormData) => {
    const [rate, hours] = [Number(form.get('rate')), Number(form.get('hours'))];
    if (hold.isPending) return;
    hold.mutate({
      ...plan,
      reason: String(form.get('reason') ?? '').trim(),
      expires_at: new Date(nowMs() + (hours > 0 ? hours : 24) * HOUR_MS).toISOString(),
      ...(rate > 0 && { resume_rate_per_minute: rate }),
    });
  };
  return (
    <Dialog title={text.title(plan.value)} onClose={onClose}>
      <p>{text.about}</p>
      {plan.scope === 'destination' && <p>{text.everyone}</p>}
      <Form label={text.title(plan.value)} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={hold.error} />}
        <Field label={text.reason} name="reason" problem={problem?.fields.get('reason')}>
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={1000} required autoFocus />}
        </Field>
        <Field
          label={text.rate}
          name="rate"
          about={text.rateAbout}
          problem={problem?.fields.get('resume_rate_per_minute')}
        >
          {(control) => <input {...control} className="input" type="number" min={1} max={60_000} />}
        </Field>
        <Field label={text.hours} name="hours" problem={problem?.fields.get('expires_at')}>
          {(control) => <input {...control} className="input" type="number" min={1} max={720} defaultValue={24} />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={hold.isPending}>
            {text.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
