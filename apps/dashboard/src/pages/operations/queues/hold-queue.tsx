import { useMutation, useQueryClient } from '@tanstack/react-query';
import { problemOf } from '../../../api/problem.ts';
import { client, trpc } from '../../../api/trpc.ts';
import { nowMs } from '../../../parts/clock.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
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
  const problem = hold.error && problemOf(hold.error);
  const submit = (form: FormData) => {
    const hours = Number(form.get('hours'));
    const expires_at = new Date(nowMs() + (hours > 0 ? hours : 24) * HOUR_MS).toISOString();
    if (!hold.isPending) hold.mutate({ reason: String(form.get('reason') ?? ''), expires_at });
  };
  return (
    <Dialog title={words.holding.title(name)} onClose={onClose}>
      <p>{words.holding.about}</p>
      <Form label={words.holding.title(name)} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={hold.error} />}
        <Field
          label={words.holding.reason}
          name="reason"
          about={words.holding.reasonAbout}
          problem={problem?.fields.get('reason')}
        >
          {(control) => <input {...control} className="input" autoComplete="off" maxLength={1000} required autoFocus />}
        </Field>
        <Field label={words.holding.hours} name="hours" problem={problem?.fields.get('expires_at')}>
          {(control) => <input {...control} className="input" type="number" min={1} max={720} defaultValue={24} />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.holding.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={hold.isPending}>
            {words.holding.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
