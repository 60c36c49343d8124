import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, type Inputs, trpc } from '../../../api/trpc.ts';
import { nowMs } from '../../../parts/clock.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
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
  const submit = (form: FormData) => {
    const [rate, hours] = [Number(form.get('rate')), Number(form.get('hours'))];
    hold.mutate({
      ...plan,
      reason: String(form.get('reason') ?? '').trim(),
      expires_at: new Date(nowMs() + (hours > 0 ? hours : 24) * HOUR_MS).toISOString(),
      ...(rate > 0 && { resume_rate_per_minute: rate }),
    });
  };
  return (
    <FormDialog
      title={text.title(plan.value)}
      intro={
        <>
          <p>{text.about}</p>
          {plan.scope === 'destination' && <p>{text.everyone}</p>}
        </>
      }
      words={text}
      error={hold.error}
      busy={hold.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.reason} name="reason" problem={problems.get('reason')}>
            {(control) => (
              <input {...control} className="input" autoComplete="off" maxLength={1000} required autoFocus />
            )}
          </Field>
          <Field label={text.rate} name="rate" about={text.rateAbout} problem={problems.get('resume_rate_per_minute')}>
            {(control) => <input {...control} className="input" type="number" min={1} max={60_000} />}
          </Field>
          <Field label={text.hours} name="hours" problem={problems.get('expires_at')}>
            {(control) => <input {...control} className="input" type="number" min={1} max={720} defaultValue={24} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
