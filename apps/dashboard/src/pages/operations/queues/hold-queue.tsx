import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, trpc } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { HoldDuration, HoldReason, holdEnd } from '../holds/hold-fields.tsx';
import { words } from './strings.ts';

export function HoldQueue({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const cache = useQueryClient();
  const hold = useMutation({
    mutationFn: (given: { readonly reason: string; readonly expires_at?: string }) =>
      client.holds.create.mutate({ scope: 'queue', value: name, ...given }),
    async onSuccess() {
      toast(words.holding.done(name));
      await cache.invalidateQueries({ queryKey: trpc.holds.pathKey() });
      onClose();
    },
  });
  const submit = (form: FormData) => {
    hold.mutate({ reason: reasonIn(form), ...holdEnd(form) });
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
          <HoldReason problems={problems} first />
          <HoldDuration problems={problems} />
        </>
      )}
    </FormDialog>
  );
}
