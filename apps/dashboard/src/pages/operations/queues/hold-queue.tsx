import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, trpc } from '../../../api/trpc.ts';
import { nowMs } from '../../../parts/clock.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

const HOUR_MS = 3_600_000;

export function HoldQueue({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const cache = useQueryClient();
  const hold = useMutation({
    mutationFn: (given: { readonly reason: string; readonly expires_at: string }) =>
      client.holds.create.mutate({ scope: 'queue', value: name, ...given }),
    async onSuccess() {
      toast(words.holding.done(name));
      await cache.invalidateQueries({ queryKey: trpc.holds.pathKey() });
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const hours = Number(form.get('hours'));
    const expires_at = new Date(nowMs() + (hours > 0 ? hours : 24) * HOUR_MS).toISOString();
    hold.mutate({ reason: String(form.get('reason') ?? ''), expires_at });
  };
  return (
    <FormDialog
      title={words.holding.title(name)}
      intro={<p>{words.holding.about}</p>}
      words={words.holding}
      error={hold.error}
      busy={hold.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field
            label={words.holding.reason}
            name="reason"
            about={words.holding.reasonAbout}
            problem={problems.get('reason')}
          >
            {(control) => (
              <input {...control} className="input" autoComplete="off" maxLength={1000} required autoFocus />
            )}
          </Field>
          <Field label={words.holding.hours} name="hours" problem={problems.get('expires_at')}>
            {(control) => <input {...control} className="input" type="number" min={1} max={720} defaultValue={24} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
