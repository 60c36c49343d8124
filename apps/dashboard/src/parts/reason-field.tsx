import { Field } from './field.tsx';

const words = {
  label: 'Reason',
  audited: 'For the audit log; may be left empty.',
};

/** Asks why something is done; `reasonIn` reads it. */
export function ReasonField({
  about = words.audited,
  problem,
  most = 500,
  required = false,
  first = false,
}: {
  readonly about?: string;
  readonly problem?: string | undefined;
  readonly most?: number;
  readonly required?: boolean;
  /** The first field of its form, where typing begins. */
  readonly first?: boolean;
}) {
  return (
    <Field label={words.label} name="reason" about={about} problem={problem}>
      {(control) => (
        <input
          {...control}
          className="input"
          autoComplete="off"
          maxLength={most}
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
