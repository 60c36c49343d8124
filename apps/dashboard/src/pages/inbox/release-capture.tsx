import { useNavigate } from '@tanstack/react-router';
import { client } from '../../api/trpc.ts';
import { calls } from '../../parts/calls/api-calls.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
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
  const text = words.releasing;
  return (
    <FormDialog
      title={text.title}
      about={text.about}
      submit={text.submit}
      call={calls.releaseCapture(id, to)}
      run={(form) => {
        const addresses = String(form.get('to') ?? '')
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean);
        return client.captures.release.mutate({ id, to: addresses });
      }}
      onDone={(sent) => {
        toast(text.done);
        void navigate({ to: '/emails/$id', params: { id: sent.id } });
      }}
      onClose={onClose}
    >
      {(problems) => (
        <Field
          label={text.to}
          name="to"
          about={text.toAbout}
          problem={problems.size > 0 ? [...problems.values()].join(' ') : undefined}
        >
          {(control) => (
            <input {...control} className="input" autoComplete="off" defaultValue={to.join(', ')} required />
          )}
        </Field>
      )}
    </FormDialog>
  );
}
