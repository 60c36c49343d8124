import { client } from '../../api/trpc.ts';
import { ConfirmByName } from '../../parts/dialogs/confirm-by-name.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function RemoveSuppression({
  email,
  onRemoved,
  onClose,
}: {
  readonly email: string;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}) {
  const { title, done, ...text } = words.removing;
  return (
    <ConfirmByName
      {...text}
      title={title(email)}
      name={email}
      fields={<ReasonField />}
      run={(form) => client.suppressions.remove.mutate({ email, reason: reasonIn(form) })}
      onDone={() => {
        toast(done(email));
        onRemoved();
      }}
      onClose={onClose}
    />
  );
}
