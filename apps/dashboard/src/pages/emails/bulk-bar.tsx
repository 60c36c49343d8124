import { lazy, Suspense, useState } from 'react';
import { may, useMe } from '../../api/me.ts';
import { problemOf } from '../../api/problem.ts';
import { client } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { useAction } from '../../parts/dialogs/use-action.ts';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

type Action = 'cancel' | 'resend';
type MatchingAction = keyof typeof words.bulk.matchingTitles;

const calls: Readonly<Record<Action, (id: string) => Promise<unknown>>> = {
  cancel: (id) => client.emails.cancel.mutate({ id }),
  resend: (id) => client.emails.resend.mutate({ id }),
};

/** A browser sends few requests at a time anyway, and other tabs need some of them. */
const CONCURRENCY = 4;

const BulkDialog = lazy(async () => ({
  default: (await import('../operations/bulk/bulk-dialog.tsx')).BulkDialog,
}));

export interface Matching {
  readonly filter: Readonly<Record<string, unknown>>;
  /** Whether the search can be acted on as a whole. */
  readonly offered: boolean;
  readonly scheduled: boolean;
}

/** Shows actions for the selected rows and, once all loaded rows are selected, for everything that the search matches. */
export function BulkBar({
  selected: selection,
  matching,
  onDone,
}: {
  readonly selected: ReadonlySet<string>;
  readonly matching: Matching;
  readonly onDone: () => void;
}) {
  const { action, open, close } = useAction();
  const [all, setAll] = useState<MatchingAction | null>(null);
  const me = useMe();
  const run = async (name: Action) => {
    const errors: unknown[] = [];
    const ids = [...selection].values();
    const work = async () => {
      for (const id of ids) await calls[name](id).catch((error: unknown) => errors.push(error));
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    const done = selection.size - errors.length;
    const word = words.bulk[name];
    if (errors.length === 0) toast(words.bulk.done(word, done));
    else toast(words.bulk.partly(word, done, errors.length, problemOf(errors[0]).message), 'bad');
  };
  const text = {
    cancel: [words.bulk.cancelTitle(selection.size), words.bulk.cancelAbout],
    resend: [words.bulk.resendTitle(selection.size), words.bulk.resendAbout],
  } as const;
  const offered: readonly MatchingAction[] = matching.scheduled
    ? ['send_now', 'cancel']
    : ['retry', 'cancel', 'give_up'];
  return (
    <div className="line bulk-bar" role="region" aria-label={words.bulk.selected(selection.size)}>
      <strong role="status">{words.bulk.selected(selection.size)}</strong>
      <Button small needs="email:send" onClick={() => open('cancel')}>
        {words.bulk.cancel}
      </Button>
      <Button small needs="email:send" onClick={() => open('resend')}>
        {words.bulk.resend}
      </Button>
      {matching.offered && may(me, 'admin') && (
        <Menu label={words.bulk.matching} className="button s" button={words.bulk.matching}>
          {offered.map((name) => (
            <MenuItem key={name} onSelect={() => setAll(name)}>
              {words.bulk.matchingTitles[name]}
            </MenuItem>
          ))}
        </Menu>
      )}
      <Button small kind="plain" onClick={onDone}>
        {words.bulk.clear}
      </Button>
      {(action === 'cancel' || action === 'resend') && (
        <FormDialog
          title={text[action][0]}
          about={text[action][1]}
          {...(action === 'cancel' && { keep: words.bulk.keep, danger: true })}
          submit={text[action][0]}
          run={() => run(action)}
          onDone={onDone}
          onClose={close}
        />
      )}
      {all !== null && (
        <Suspense fallback={null}>
          <BulkDialog
            plan={{ action: all, filter: matching.filter, title: words.bulk.matchingTitles[all] }}
            onClose={() => setAll(null)}
          />
        </Suspense>
      )}
    </div>
  );
}
