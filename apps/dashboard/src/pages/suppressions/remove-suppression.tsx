import { client } from '../../api/trpc.ts';
import { ConfirmByName } from '../../parts/dialogs/confirm-by-name.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

export function RemoveSuppression({ email, onClose }: { readonly email: string; readonly onClose: () => void }) {
  const { title, done, ...text } = words.removing;
  return (
    <ConfirmByName
      {...text}
      title={title(email)}
      name={email}
      run={() => client.suppressions.remove.mutate({ email })}
      onDone={() => toast(done(email))}
      onClose={onClose}
    />
  );
}
