import { Field } from './field.tsx';
import { words } from './strings.ts';

/** Asks for the reason for an action, which `reasonIn` reads. */
export function ReasonField({
  about: description = words.reason.audited,
  problem,
  most: max = 500,
  required = false,
  first = false,
}: {
  readonly about?: string;
  readonly problem?: string | undefined;
  readonly most?: number;
  readonly required?: boolean;
  /** Whether this is the form's first field, which gets the initial focus. */
  readonly first?: boolean;
}) {
  return (
    <Field label={words.reason.label} name="reason" about={description} problem={problem}>
      {(control) => (
        <input
          {...control}
          className="input"
          autoComplete="off"
          maxLength={max}
          required={required}
          autoFocus={first}
        />
      )}
    </Field>
  );
}

export function reasonIn(form: FormData): string {
  return String(form.get('reason') ?? '').trim();
}
