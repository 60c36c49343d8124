import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { AddTotp } from './add-totp.tsx';
import { ShowRecoveryCodes } from './show-recovery-codes.tsx';
import { words } from './strings.ts';

const text = words.factor;

type Opened = 'add-app' | 'renew-codes' | 'remove-app';

/** The authenticator app and the recovery codes. */
export function SecondFactor() {
  const factors = useQuery(trpc.people.factors.queryOptions({}));
  const { open } = useSearch({ from: '/shell/settings/account' });
  const navigate = useNavigate({ from: '/settings/account' });
  return (
    <Panel title={text.title}>
      <QueryView query={factors}>
        {(data) => <Factors {...data} onOpen={(name) => void navigate({ search: { open: name } })} />}
      </QueryView>
      {/* The panel changes once there is an app, while the dialog still shows its recovery codes. */}
      {open !== undefined && <FactorDialog name={open} onClose={() => void navigate({ search: {}, replace: true })} />}
    </Panel>
  );
}

function Factors({
  totp_since,
  recovery_codes_left,
  onOpen,
}: Outputs['people']['factors'] & { readonly onOpen: (name: Opened) => void }) {
  if (totp_since === null) {
    return (
      <div className="stack">
        <p>{text.none}</p>
        <div className="line">
          <Button onClick={() => onOpen('add-app')}>{text.add}</Button>
        </div>
      </div>
    );
  }
  return (
    <div className="stack">
      <p>
        {text.since} <RelativeTime at={totp_since} />. {text.left(recovery_codes_left)}
      </p>
      <div className="line">
        <Button onClick={() => onOpen('add-app')}>{text.replace}</Button>
        <Button onClick={() => onOpen('renew-codes')}>{text.renew.submit}</Button>
        <Button kind="danger" onClick={() => onOpen('remove-app')}>
          {text.remove.submit}
        </Button>
      </div>
    </div>
  );
}

function FactorDialog({ name, onClose }: { readonly name: Opened; readonly onClose: () => void }) {
  switch (name) {
    case 'add-app':
      return <AddTotp onClose={onClose} />;
    case 'renew-codes':
      return (
        <FormDialog
          {...text.renew}
          run={() => client.people.renewRecoveryCodes.mutate({})}
          next={({ recovery_codes }) => <ShowRecoveryCodes codes={recovery_codes} onClose={onClose} />}
          onClose={onClose}
        />
      );
    case 'remove-app':
      return (
        <FormDialog
          {...text.remove}
          danger
          run={() => client.people.removeTotp.mutate({})}
          onDone={() => toast(text.removed)}
          onClose={onClose}
        />
      );
  }
}
