import { problemOf } from '../../api/problem.ts';
import { client } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { useAction } from '../../parts/dialogs/use-action.ts';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

type Action = 'cancel' | 'resend';

const calls: Readonly<Record<Action, (id: string) => Promise<unknown>>> = {
  cancel: (id) => client.emails.cancel.mutate({ id }),
  resend: (id) => client.emails.resend.mutate({ id }),
};

/** Shows actions for the selected rows. */
export function BulkBar({
  chosen: selection,
  onDone,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onDone: () => void;
}) {
  const { action, open, close } = useAction();
  if (selection.size === 0) return null;
  const run = async (name: Action) => {
    const responses = await Promise.allSettled([...selection].map((id) => calls[name](id)));
    const rejected = responses.filter((response) => response.status === 'rejected');
    const done = responses.length - rejected.length;
    const word = words.bulk[name];
    const [first] = rejected;
    if (!first) toast(words.bulk.done(word, done));
    else toast(words.bulk.partly(word, done, rejected.length, problemOf(first.reason).message), 'bad');
  };
  const text = {
    cancel: [words.bulk.cancelTitle(selection.size), words.bulk.cancelAbout],
    resend: [words.bulk.resendTitle(selection.size), words.bulk.resendAbout],
  } as const;
  return (
    <div className="line bulk-bar" role="region" aria-label={words.bulk.chosen(selection.size)}>
      <strong role="status">{words.bulk.chosen(selection.size)}</strong>
      <Button small needs="email:send" onClick={() => open('cancel')}>
        {words.bulk.cancel}
      </Button>
      <Button small needs="email:send" onClick={() => open('resend')}>
        {words.bulk.resend}
      </Button>
      <Button small kind="plain" onClick={onDone}>
        {words.bulk.clear}
      </Button>
      {(action === 'cancel' || action === 'resend') && (
        <FormDialog
          title={text[action][0]}
          about={text[action][1]}
          {...(action === 'cancel' && { keep: words.bulk.keep, danger: true })}
          submit={text[action][0]}
          run={() => run(action)}
          onDone={onDone}
          onClose={close}
        />
      )}
    </div>
  );
}
