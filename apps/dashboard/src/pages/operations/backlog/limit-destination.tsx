import { useMutation, useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

const text = words.limiting;

type Limit = Pick<Outputs['destinations']['list']['data'][number], 'connections' | 'messages_per_minute'>;

const NO_LIMIT: Limit = { connections: null, messages_per_minute: null };

interface Props {
  readonly destination: string;
  readonly onClose: () => void;
}

export function LimitDestination({ destination, onClose }: Props) {
  // The fields take their defaults once, so they wait for the present ones.
  const { data } = useQuery(trpc.destinations.list.queryOptions({}, { gcTime: 0 }));
  if (!data) return null;
  const current = data.data.find((row) => row.destination === destination) ?? NO_LIMIT;
  return <LimitForm destination={destination} current={current} onClose={onClose} />;
}

function LimitForm({ destination, current, onClose }: Props & { readonly current: Limit }) {
  const done = (notice: string) => ({
    onSuccess() {
      toast(notice);
      onClose();
    },
  });
  const save = useMutation(trpc.destinations.limit.mutationOptions(done(text.done(destination))));
  const remove = useMutation(trpc.destinations.release.mutationOptions(done(text.removed(destination))));
  const submit = (form: FormData) => {
    const [connections, messages_per_minute] = ['connections', 'messages_per_minute'].map((name) =>
      form.get(name) === '' ? undefined : Number(form.get(name)),
    );
    if (connections === undefined && messages_per_minute === undefined) remove.mutate({ destination });
    else save.mutate({ destination, connections, messages_per_minute });
  };
  return (
    <FormDialog
      title={text.title(destination)}
      intro={<p>{text.about}</p>}
      words={text}
      error={save.error ?? remove.error}
      busy={save.isPending || remove.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) =>
        (
          [
            [text.connections, 'connections'],
            [text.rate, 'messages_per_minute'],
          ] as const
        ).map(([label, name]) => (
          <Field key={name} label={label} name={name} about={text.empty} problem={problems.get(name)}>
            {(control) => (
              <input {...control} className="input" type="number" min={1} defaultValue={current[name] ?? ''} />
            )}
          </Field>
        ))
      }
    </FormDialog>
  );
}
