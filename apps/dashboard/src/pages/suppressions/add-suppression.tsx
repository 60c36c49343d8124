import { CircleCheck, CircleX } from 'lucide-react';
import { client, type Outputs } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { type Column, List } from '../../parts/list.tsx';
import { ReasonField, reasonIn } from '../../parts/reason-field.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from './strings.ts';

type Added = Extract<Outputs['suppressions']['add'], { data: unknown }>['data'][number];

interface Result {
  readonly email: string;
  /** Why the address was rejected; null if it was added. */
  readonly problem: string | null;
}

/** Adds one address or a pasted list, each with a result of its own. */
export function AddSuppression({
  email = '',
  onClose,
}: {
  /** The address that the list was searched for. */
  readonly email?: string | undefined;
  readonly onClose: () => void;
}) {
  const text = words.adding;
  return (
    <FormDialog
      title={text.title}
      submit={text.submit}
      run={(form) => add(addressesIn(String(form.get('email') ?? '')), reasonIn(form) || null)}
      next={(results) => (results.length > 1 ? <Results results={results} onClose={onClose} /> : null)}
      onDone={(results) => {
        const [only] = results;
        if (only && results.length === 1) toast(text.done(only.email));
      }}
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field
            label={text.email}
            name="email"
            about={text.emailAbout}
            problem={problems.get('email') ?? problems.get('suppressions')}
          >
            {(control) => (
              <textarea
                {...control}
                className="input mono"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                defaultValue={email}
                required
                autoFocus
              />
            )}
          </Field>
          <ReasonField about={text.reasonAbout} problem={problems.get('reason')} />
        </>
      )}
    </FormDialog>
  );
}

async function add(emails: readonly string[], reason: string | null): Promise<readonly Result[]> {
  const [email = ''] = emails;
  if (emails.length < 2) {
    await client.suppressions.add.mutate({ email, reason });
    return [{ email, problem: null }];
  }
  const added = await client.suppressions.add.mutate({ suppressions: emails.map((one) => ({ email: one, reason })) });
  const entries: readonly Added[] = 'data' in added ? added.data : [];
  return emails.map((one, index) => {
    const entry = entries[index];
    return { email: one, problem: entry && 'error' in entry ? entry.error.message : null };
  });
}

/** Returns the addresses of a pasted list, each once. */
function addressesIn(text: string): string[] {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  return [...new Map(parts.map((part) => [part.toLowerCase(), part])).values()];
}

function Results({ results, onClose }: { readonly results: readonly Result[]; readonly onClose: () => void }) {
  const text = words.adding.results;
  const count = results.filter(({ problem }) => problem === null).length;
  return (
    <Dialog title={text.title(count, results.length)} onClose={onClose}>
      <List
        label={text.label}
        columns={resultColumns}
        // Those that need attention come first.
        rows={results.toSorted((one, other) => Number(one.problem === null) - Number(other.problem === null))}
        idOf={({ email }) => email}
        nameOf={({ email }) => email}
      />
      <div className="actions">
        <button type="button" className="button primary" onClick={onClose}>
          {text.close}
        </button>
      </div>
    </Dialog>
  );
}

const resultColumns: readonly Column<Result>[] = [
  {
    name: words.columns.email,
    wraps: true,
    show: ({ email, problem }) => (
      <>
        <span className="mono breaks">{email}</span>
        {problem !== null && <div className="muted">{problem}</div>}
      </>
    ),
  },
  {
    name: words.adding.results.result,
    width: 'fit',
    show: ({ problem }) =>
      problem === null ? (
        <Badge tone="good" icon={CircleCheck}>
          {words.adding.results.added}
        </Badge>
      ) : (
        <Badge tone="bad" icon={CircleX}>
          {words.adding.results.rejected}
        </Badge>
      ),
  },
];
