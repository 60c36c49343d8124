import { useMutation } from '@tanstack/react-query';
import { client } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

const text = words.detail.setting;

export function SetConcurrency({
  queue,
  current,
  onClose,
  onSet,
}: {
  readonly queue: string;
  readonly current: number;
  readonly onClose: () => void;
  readonly onSet: () => void;
}) {
  const set = useMutation({
    mutationFn: (given: { readonly concurrency: number; readonly reason?: string }) =>
      client.ops.setConcurrency.mutate({ queue, ...given }),
    onSuccess(_, { concurrency }) {
      toast(text.done(queue, concurrency));
      onSet();
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const reason = reasonIn(form);
    set.mutate({ concurrency: Number(form.get('concurrency')), ...(reason && { reason }) });
  };
  return (
    <FormDialog
      title={text.title(queue)}
      intro={<p>{text.about}</p>}
      words={text}
      error={set.error}
      busy={set.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={text.label} name="concurrency" problem={problems.get('concurrency')}>
            {(control) => (
              <input
                {...control}
                className="input"
                type="number"
                min={1}
                max={1000}
                defaultValue={current}
                required
                autoFocus
              />
            )}
          </Field>
          <ReasonField problem={problems.get('reason')} />
        </>
      )}
    </FormDialog>
  );
}
