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
}: {
  readonly queue: string;
  readonly current: number;
  readonly onClose: () => void;
}) {
  return (
    <FormDialog
      title={text.title(queue)}
      about={text.about}
      submit={text.submit}
      run={(form) => {
        const reason = reasonIn(form);
        const concurrency = Number(form.get('concurrency'));
        return client.ops.setConcurrency.mutate({ queue, concurrency, ...(reason && { reason }) });
      }}
      onDone={({ concurrency }) => toast(text.done(queue, concurrency))}
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
