import { useState } from 'react';
import { client, type Outputs } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { ShowWebhookSecret } from '../../webhooks/show-webhook-secret.tsx';
import { words } from './strings.ts';

/** Says how the saved webhook is signed, and creates or rotates its secret. */
export function AlarmSecret({ settings }: { readonly settings: Outputs['alarms']['settings'] }) {
  const [open, setOpen] = useState(false);
  const text = words.secret;
  const { access, webhook_secret_last4: last4 } = settings;
  const close = () => setOpen(false);
  return (
    <div className="field">
      <span className="label">{text.title}</span>
      <div className="line">
        <span>{last4 === null ? text.unsigned : text.signed(last4)}</span>
        <Button small onClick={() => setOpen(true)}>
          {last4 === null ? text.create : text.rotate}
        </Button>
      </div>
      {open && (
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
