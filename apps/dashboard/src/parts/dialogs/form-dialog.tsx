import { type ReactNode, useRef, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { refetchShown } from '../../api/trpc.ts';
import type { Call } from '../calls/api-calls.ts';
import { SameByApi } from '../calls/same-by-api.tsx';
import { Dialog } from '../dialog.tsx';
import { Form } from '../field.tsx';
import { ErrorPanel } from '../states.tsx';
import { words } from '../strings.ts';

interface DialogFormProps<T> {
  readonly title: string;
  /** The action, as the label of the submit button. */
  readonly submit: string;
  /** The label of the button that closes without submitting. */
  readonly keep?: string;
  readonly danger?: boolean;
  readonly run: (form: FormData) => Promise<T>;
  readonly onDone: (result: T) => void;
  readonly onClose: () => void;
  /**
   * Renders the fields, given the messages of the invalid fields. An error that names no field is shown above the
   * fields.
   */
  readonly children?: (problems: ReadonlyMap<string, string>) => ReactNode;
}

/** Renders a dialog's form with its two buttons. The result may be a secret, so it is never cached. */
export function DialogForm<T>(props: DialogFormProps<T>) {
  const { title, submit, keep = words.cancel, danger = false, run, onDone, onClose, children } = props;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // Set before the next render so that a double click submits only once.
  const running = useRef(false);
  const send = async (form: FormData) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      const result = await run(form);
      refetchShown();
      onDone(result);
    } catch (thrown) {
      setError(thrown);
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  const problems: ReadonlyMap<string, string> = error === null ? new Map() : problemOf(error).fields;
  return (
    <Form label={title} onSubmit={(form) => void send(form)} fault={error}>
      {error !== null && (problems.size === 0 || !children) && <ErrorPanel error={error} />}
      {children?.(problems)}
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {keep}
        </button>
        <button type="submit" className={`button primary ${danger ? 'danger' : ''}`} aria-busy={busy}>
          {submit}
        </button>
      </div>
    </Form>
  );
}

export interface FormDialogProps<T> extends Omit<DialogFormProps<T>, 'onDone'> {
  readonly about?: ReactNode;
  /** Called once the dialog has closed. */
  readonly onDone?: (result: T) => void;
  /** Renders the view that replaces the form on success, such as a secret to copy. If omitted, the dialog closes. */
  readonly next?: (result: T) => ReactNode;
  /** The equivalent action in each API. */
  readonly call?: Call;
}

export function FormDialog<T>({ about: description, onDone, next, call, ...form }: FormDialogProps<T>) {
  const [outcome, setResult] = useState<ReactNode>(null);
  const done = (result: T) => {
    const following = next?.(result) ?? null;
    if (following === null) form.onClose();
    else setResult(following);
    onDone?.(result);
  };
  if (outcome !== null) return outcome;
  return (
    <Dialog title={form.title} onClose={form.onClose}>
      {typeof description === 'string' ? <p>{description}</p> : description}
      <DialogForm {...form} onDone={done} />
      {call && <SameByApi call={call} />}
    </Dialog>
  );
}
