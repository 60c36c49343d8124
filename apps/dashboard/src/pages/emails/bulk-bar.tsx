import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { client } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

type Action = 'cancel' | 'resend';

const calls: Readonly<Record<Action, (id: string) => Promise<unknown>>> = {
  cancel: (id) => client.emails.cancel.mutate({ id }),
  resend: (id) => client.emails.resend.mutate({ id }),
};

/** The actions on the chosen rows. */
export function BulkBar({
  chosen,
  onDone,
  onChanged,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onDone: () => void;
  readonly onChanged: () => void;
}) {
  const [asked, setAsked] = useState<Action | null>(null);
  const [busy, setBusy] = useState(false);
  if (chosen.size === 0) return null;
  const run = async (action: Action) => {
    setBusy(true);
    const answers = await Promise.allSettled([...chosen].map((id) => calls[action](id)));
    setBusy(false);
    setAsked(null);
    const refused = answers.filter((answer) => answer.status === 'rejected');
    const done = answers.length - refused.length;
    const word = words.bulk[action];
    const [first] = refused;
    if (!first) toast(words.bulk.done(word, done));
    else toast(words.bulk.partly(word, done, refused.length, problemOf(first.reason).message), 'bad');
    onChanged();
    onDone();
  };
  const text = {
    cancel: [words.bulk.cancelTitle(chosen.size), words.bulk.cancelAbout],
    resend: [words.bulk.resendTitle(chosen.size), words.bulk.resendAbout],
  } as const;
  return (
    <div className="line bulk-bar" role="region" aria-label={words.bulk.chosen(chosen.size)}>
      <strong role="status">{words.bulk.chosen(chosen.size)}</strong>
      <Button small needs="email:send" onClick={() => setAsked('cancel')}>
        {words.bulk.cancel}
      </Button>
      <Button small needs="email:send" onClick={() => setAsked('resend')}>
        {words.bulk.resend}
      </Button>
      <Button small kind="plain" onClick={onDone}>
        {words.bulk.clear}
      </Button>
      {asked && (
        <Dialog title={text[asked][0]} onClose={() => setAsked(null)}>
          <p>{text[asked][1]}</p>
          <div className="actions">
            <Button kind="primary" busy={busy} onClick={() => void run(asked)}>
              {text[asked][0]}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
