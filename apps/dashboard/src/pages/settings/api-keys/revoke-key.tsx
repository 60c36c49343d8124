import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { SameByApi } from '../../../parts/calls/same-by-api.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { Facts } from '../../../parts/page.tsx';
import { ErrorPanel, Notice } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Key } from './key.ts';
import { words } from './strings.ts';

export function RevokeKey({
  apiKey,
  onClose,
  onRevoked,
}: {
  readonly apiKey: Key;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}) {
  const [wrong, setWrong] = useState<string>();
  const revoke = useMutation({
    mutationFn: () => client.apiKeys.revoke.mutate({ key_id: apiKey.id }),
    onSuccess() {
      toast(words.revoking.done(apiKey.name));
      onRevoked();
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const same = form.get('name') === apiKey.name;
    setWrong(same ? undefined : words.revoking.mismatch);
    if (same && !revoke.isPending) revoke.mutate();
  };
  return (
    <Dialog title={words.revoking.title(apiKey.name)} onClose={onClose}>
      <Notice tone="bad">
        <p>{words.revoking.about}</p>
      </Notice>
      <Facts
        rows={[
          [words.columns.key, <span key="key" className="mono">{`${apiKey.prefix}…${apiKey.last4}`}</span>],
          [
            words.revoking.used,
            apiKey.last_used_at === null ? words.revoking.unused : <RelativeTime key="used" at={apiKey.last_used_at} />,
          ],
        ]}
      />
      <Form label={words.revoking.title(apiKey.name)} onSubmit={submit} fault={wrong}>
        {revoke.error !== null && <ErrorPanel error={revoke.error} />}
        <Field label={words.revoking.type(apiKey.name)} name="name" problem={wrong}>
          {(control) => <input {...control} className="input" autoComplete="off" required autoFocus />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.dialog.cancel}
          </button>
          <button type="submit" className="button danger primary" aria-busy={revoke.isPending}>
            {words.revoking.submit}
          </button>
        </div>
      </Form>
      <SameByApi call={calls.revokeKey(apiKey.id)} />
    </Dialog>
  );
}
