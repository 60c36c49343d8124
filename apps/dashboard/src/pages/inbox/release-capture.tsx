import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { problemOf } from '../../api/problem.ts';
import { client } from '../../api/trpc.ts';
import { calls } from '../../parts/calls/api-calls.ts';
import { SameByApi } from '../../parts/calls/same-by-api.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/field.tsx';
import { ErrorPanel } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function ReleaseCapture({
  id,
  to,
  onClose,
}: {
  readonly id: string;
  readonly to: readonly string[];
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const release = useMutation({
    mutationFn: (addresses: string[]) => client.captures.release.mutate({ id, to: addresses }),
    onSuccess(sent) {
      toast(words.releasing.done);
      onClose();
      void navigate({ to: '/emails/$id', params: { id: sent.id } });
    },
  });
  const problem = release.error && problemOf(release.error);
  const faults = problem && [...problem.fields].map(([, message]) => message).join(' ');
  const submit = (form: FormData) => {
    const addresses = String(form.get('to') ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    if (!release.isPending) release.mutate(addresses);
  };
  const text = words.releasing;
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p>{text.about}</p>
      <Form label={text.title} onSubmit={submit} fault={problem}>
        {problem && !faults && <ErrorPanel error={release.error} />}
        <Field label={text.to} name="to" about={text.toAbout} problem={faults || undefined}>
          {(control) => (
            <input {...control} className="input" autoComplete="off" defaultValue={to.join(', ')} required />
          )}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={release.isPending}>
            {text.submit}
          </button>
        </div>
      </Form>
      <SameByApi call={calls.releaseCapture(id, to)} />
    </Dialog>
  );
}
