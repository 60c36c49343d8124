import { useState } from 'react';
import { InvalidForm } from '../../../../api/problem.ts';
import { client } from '../../../../api/trpc.ts';
import { CodeBlock } from '../../../../parts/copy.tsx';
import { Dialog } from '../../../../parts/dialog.tsx';
import { FormDialog } from '../../../../parts/dialogs/form-dialog.tsx';
import { SecretDialog } from '../../../../parts/dialogs/secret-dialog.tsx';
import { Field } from '../../../../parts/field.tsx';
import { Notice } from '../../../../parts/states.tsx';
import type { Transport } from '../transport.ts';
import type { Feedback, NewFeedback, Provider } from './feedback.ts';
import { words } from './strings.ts';

const text = words.setting;
const MAX_SECRET_LENGTH = 1000;
const DEFAULT_PROVIDER: Provider = 'generic';

/** Sets up a relay's feedback or replaces its URL and secret, and shows what to enter at the relay. */
export function SetFeedback({
  transport: { id: transport_id, name },
  feedback,
  onClose,
}: {
  readonly transport: Transport;
  /** Null if it is not set up. */
  readonly feedback: Feedback | null;
  readonly onClose: () => void;
}) {
  const [provider, setProvider] = useState<Provider>(feedback?.provider ?? DEFAULT_PROVIDER);
  const { secret: theirs, setup } = words.providers[provider];
  const save = async (form: FormData): Promise<NewFeedback> => {
    const secret = theirs === null ? undefined : String(form.get('secret')).trim();
    if (theirs !== null && secret === '') throw new InvalidForm({ secret: text.missing(theirs.label) });
    return client.transports.setFeedback.mutate({ transport_id, provider, secret });
  };
  return (
    <FormDialog
      title={feedback === null ? text.title(name) : text.replacing(name)}
      about={feedback === null ? words.about : text.overlap}
      submit={feedback === null ? text.submit : text.submitReplaced}
      run={save}
      next={(result) => <ShowFeedback name={name} feedback={result} onClose={onClose} />}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field label={words.provider} name="provider" about={setup} problem={problems.get('provider')}>
            {(control) => (
              <select
                {...control}
                className="input"
                value={provider}
                // The cast is safe because the options are the names of the table.
                onChange={({ target }) => setProvider(target.value as Provider)}
              >
                {Object.entries(words.providers).map(([option, { name: label }]) => (
                  <option key={option} value={option}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {theirs !== null && (
            <Field
              key={provider}
              label={theirs.label}
              name="secret"
              about={theirs.about}
              problem={problems.get('secret')}
            >
              {(control) => (
                <input
                  {...control}
                  className="input mono"
                  type="password"
                  autoComplete="new-password"
                  maxLength={MAX_SECRET_LENGTH}
                  required
                />
              )}
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}

/** Shows what to enter at the relay. A secret of ours is shown nowhere else. */
function ShowFeedback({
  name,
  feedback: { provider, url, secret },
  onClose,
}: {
  readonly name: string;
  readonly feedback: NewFeedback;
  readonly onClose: () => void;
}) {
  const { setup } = words.providers[provider];
  const destination = (
    <div className="stack-s">
      <p>{setup}</p>
      <h3>{words.url}</h3>
      <CodeBlock text={url} what={words.url} />
    </div>
  );
  if (secret === null)
    return (
      <Dialog title={words.shown.titleOfUrl(name)} onClose={onClose}>
        {destination}
        <div className="actions">
          <button type="button" className="button primary" onClick={onClose}>
            {words.shown.done}
          </button>
        </div>
      </Dialog>
    );
  return (
    <SecretDialog title={words.shown.title(name)} words={words.shown} onClose={onClose}>
      <Notice tone="wait">
        <p>{words.shown.once}</p>
      </Notice>
      {destination}
      <div className="stack-s">
        <h3>{words.secret}</h3>
        <CodeBlock text={secret} what={words.secret} />
      </div>
    </SecretDialog>
  );
}
