import { useNavigate, useSearch } from '@tanstack/react-router';
import { client, type Outputs } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { ShowWebhookSecret } from '../../webhooks/show-webhook-secret.tsx';
import { paths } from './paths.ts';
import { words } from './strings.ts';

/** Says how the saved webhook is signed, and creates or rotates its secret. */
export function AlarmSecret({ settings }: { readonly settings: Outputs['alarms']['settings'] }) {
  const text = words.secret;
  const { access, webhook_secret_last4: last4 } = settings;
  const { open, ...search } = useSearch({ from: `/shell${paths[access]}` });
  const navigate = useNavigate({ from: paths[access] });
  const close = () => void navigate({ search, replace: true });
  return (
    <div className="field">
      <span className="label">{text.title}</span>
      <div className="line">
        <span>{last4 === null ? text.unsigned : text.signed(last4)}</span>
        <Button small onClick={() => void navigate({ search: { ...search, open: 'secret' } })}>
          {last4 === null ? text.create : text.rotate}
        </Button>
      </div>
      {open === 'secret' && (
        <FormDialog
          {...(last4 === null ? text.creating : text.rotating)}
          run={() => client.alarms.rotateSecret.mutate({ access })}
          next={({ webhook_secret }) => <ShowWebhookSecret secret={webhook_secret ?? ''} onClose={close} />}
          onClose={close}
        />
      )}
    </div>
  );
}
