import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { encode } from 'uqr';
import { client, trpc } from '../../../api/trpc.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { ShowRecoveryCodes } from './show-recovery-codes.tsx';
import { words } from './strings.ts';

const text = words.factor.adding;
/** Scanners need this many light squares around the code. */
const BORDER = 4;

/** Shows a new secret as a QR code and as text, and activates it by a first code. */
export function AddTotp({ onClose }: { readonly onClose: () => void }) {
  const { mutate, data: setup, error } = useMutation(trpc.people.beginTotp.mutationOptions());
  useEffect(() => mutate({}), [mutate]);
  if (error !== null) {
    return (
      <Dialog title={text.title} onClose={onClose}>
        <ErrorPanel error={error} />
      </Dialog>
    );
  }
  if (!setup) return null;
  return (
    <FormDialog
      title={text.title}
      submit={text.submit}
      about={
        <>
          <p>{text.scan}</p>
          <QrCode text={setup.url} />
          <p>{text.type}</p>
          <CodeBlock text={setup.secret} what={text.secret} />
        </>
      }
      run={(form) => client.people.activateTotp.mutate({ code: String(form.get('code')) })}
      next={({ recovery_codes }) => <ShowRecoveryCodes codes={recovery_codes} onClose={onClose} />}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={text.field} name="code" problem={problems.get('code')}>
          {(control) => (
            <input
              {...control}
              className="input"
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={20}
              required
            />
          )}
        </Field>
      )}
    </FormDialog>
  );
}

function QrCode({ text: content }: { readonly text: string }) {
  const { size, data } = encode(content, { border: BORDER });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={text.picture}>
      <path d={squares.join('')} />
    </svg>
  );
}
