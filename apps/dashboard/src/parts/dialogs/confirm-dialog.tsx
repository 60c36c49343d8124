import { useMutation } from '@tanstack/react-query';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { ErrorPanel } from '../states.tsx';

/** Asks before an action that cannot be undone; closes when it has succeeded. */
export function ConfirmDialog<T>({
  title,
  words,
  run,
  onDone,
  onClose,
}: {
  readonly title: string;
  readonly words: { readonly about: string; readonly cancel: string; readonly submit: string };
  readonly run: () => Promise<T>;
  readonly onDone: (result: T) => void;
  readonly onClose: () => void;
}) {
  const action = useMutation({
    mutationFn: run,
    onSuccess(result) {
      onDone(result);
      onClose();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{words.about}</p>
      {action.error !== null && <ErrorPanel error={action.error} />}
      <div className="actions">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button kind="danger primary" busy={action.isPending} onClick={() => action.mutate()}>
          {words.submit}
        </Button>
      </div>
    </Dialog>
  );
}
