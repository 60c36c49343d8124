import { useQuery } from '@tanstack/react-query';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
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
  // The fields read their defaults only once, so they wait for the current values.
  const { data } = useQuery(trpc.destinations.list.queryOptions({}, { gcTime: 0 }));
  if (!data) return null;
  const current = data.data.find((row) => row.destination === destination) ?? NO_LIMIT;
  return <LimitForm destination={destination} current={current} onClose={onClose} />;
}

/** Limits a destination that the user names. */
export function NewLimit({ onClose }: Pick<Props, 'onClose'>) {
  return <LimitForm destination={null} current={NO_LIMIT} onClose={onClose} />;
}

interface FormProps {
  /** Null if the form asks for it. */
  readonly destination: string | null;
  readonly current: Limit;
  readonly onClose: () => void;
}

function LimitForm({ destination: known, current, onClose }: FormProps) {
  const save = async (form: FormData) => {
    const destination = known ?? String(form.get('destination') ?? '').trim();
    const [connections, messages_per_minute] = ['connections', 'messages_per_minute'].map((name) =>
      form.get(name) === '' ? undefined : Number(form.get(name)),
    );
    if (known !== null && connections === undefined && messages_per_minute === undefined) {
      await client.destinations.release.mutate({ destination });
      return text.removed(destination);
    }
    await client.destinations.limit.mutate({ destination, connections, messages_per_minute });
    return text.done(destination);
  };
  return (
    <FormDialog
      title={known === null ? words.limits.create : text.title(known)}
      about={text.about}
      submit={text.submit}
      run={save}
      onDone={toast}
      onClose={onClose}
    >
      {(problems) => (
        <>
          {known === null && (
            <Field
              label={words.limits.destination}
              name="destination"
              about={words.limits.destinationAbout}
              problem={problems.get('destination')}
            >
              {(control) => <input {...control} className="input mono" autoComplete="off" required autoFocus />}
            </Field>
          )}
          <Field label={text.connections} name="connections" about={text.empty} problem={problems.get('connections')}>
            {(control) => (
              <input {...control} className="input" type="number" min={1} defaultValue={current.connections ?? ''} />
            )}
          </Field>
          <Field
            label={text.rate}
            name="messages_per_minute"
            about={text.empty}
            problem={problems.get('messages_per_minute')}
          >
            {(control) => (
              <input
                {...control}
                className="input"
                type="number"
                min={1}
                defaultValue={current.messages_per_minute ?? ''}
              />
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
