import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, type Inputs, trpc } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { HoldDuration, HoldReason, holdEnd } from '../holds/hold-fields.tsx';
import { words } from './strings.ts';

type NewHold = Inputs['holds']['create'];
export type HoldPlan = Pick<NewHold, 'scope' | 'value'>;

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
    const rate = Number(form.get('rate'));
    hold.mutate({
      ...plan,
      reason: reasonIn(form),
      ...holdEnd(form),
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
          <HoldReason problems={problems} first />
          <Field label={text.rate} name="rate" about={text.rateAbout} problem={problems.get('resume_rate_per_minute')}>
            {(control) => <input {...control} className="input" type="number" min={1} max={60_000} />}
          </Field>
          <HoldDuration problems={problems} />
        </>
      )}
    </FormDialog>
  );
}
