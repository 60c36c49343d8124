import type { ReactNode } from 'react';
import { InvalidForm } from '../../api/problem.ts';
import { Field } from '../field.tsx';
import { Notice } from '../states.tsx';
import { words } from '../strings.ts';
import { FormDialog, type FormDialogProps } from './form-dialog.tsx';

interface ConfirmByNameProps<T> extends Omit<FormDialogProps<T>, 'danger' | 'children' | 'about'> {
  /** The text to type. */
  readonly name: string;
  readonly about: string;
  /** Further facts about the target. */
  readonly facts?: FormDialogProps<T>['about'];
  /** Further fields, such as the reason. */
  readonly fields?: ReactNode;
}

const plain = (text: unknown) => String(text).trim().toLowerCase();

/** Confirms an irreversible action by having the user type the target's name. */
export function ConfirmByName<T>({ name, about: description, facts, fields, run, ...dialog }: ConfirmByNameProps<T>) {
  return (
    <FormDialog
      {...dialog}
      danger
      about={
        <>
          <Notice tone="bad">
            <p>{description}</p>
          </Notice>
          {facts}
        </>
      }
      run={async (form) => {
        if (plain(form.get('name')) !== plain(name)) throw new InvalidForm({ name: words.confirm.mismatch(name) });
        return run(form);
      }}
    >
      {(problems) => (
        <>
          <Field label={words.confirm.label(name)} name="name" problem={[...problems.values()][0]}>
            {(control) => <input {...control} className="input" autoComplete="off" required autoFocus />}
          </Field>
          {fields}
        </>
      )}
    </FormDialog>
  );
}
