import type { ReactNode } from 'react';
import { problemOf } from '../../api/problem.ts';
import { Dialog } from '../dialog.tsx';
import { Form } from '../field.tsx';
import { ErrorPanel } from '../states.tsx';

/** A dialog with one form. Its children get the messages of invalid fields; an error that names none is shown above. */
export function FormDialog({
  title,
  intro,
  words,
  error,
  busy,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly words: { readonly cancel: string; readonly submit: string };
  /** null: the form was not refused. */
  readonly error: unknown;
  readonly busy: boolean;
  readonly onSubmit: (form: FormData) => void;
  readonly onClose: () => void;
  readonly children: (problems: ReadonlyMap<string, string>) => ReactNode;
}) {
  const problems: ReadonlyMap<string, string> = error === null ? new Map() : problemOf(error).fields;
  return (
    <Dialog title={title} onClose={onClose}>
      {intro}
      <Form label={title} onSubmit={(form) => !busy && onSubmit(form)} fault={error}>
        {error !== null && problems.size === 0 && <ErrorPanel error={error} />}
        {children(problems)}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={busy}>
            {words.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
