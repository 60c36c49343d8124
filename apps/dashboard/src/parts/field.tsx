import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';

interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

/** Renders a labeled control with its help text and error. */
export function Field({
  label,
  name,
  about: description,
  problem,
  children,
}: {
  readonly label: string;
  readonly name: string;
  readonly about?: ReactNode;
  readonly problem?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const describedBy = [description && `${id}-about`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        name,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {description && (
        <p id={`${id}-about`} className="about">
          {description}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Renders a form that preserves its input after an error and focuses the first invalid field. */
export function Form({
  children,
  onSubmit,
  fault,
  label,
}: {
  readonly children: ReactNode;
  readonly onSubmit: (form: FormData) => void;
  /** Changes when a submission is rejected. */
  readonly fault?: unknown;
  readonly label?: string;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (fault) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fault]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form ref={form} className="stack" aria-label={label} noValidate onSubmit={submit}>
      {children}
    </form>
  );
}

export function Check({
  name,
  value,
  label,
  about: description,
  checked,
  onChange,
}: {
  readonly name: string;
  readonly value?: string;
  readonly label: ReactNode;
  readonly about?: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="check">
      <input
        id={id}
        type="checkbox"
        name={name}
        value={value}
        checked={checked}
        aria-describedby={description && `${id}-about`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <label htmlFor={id}>{label}</label>
        {description && (
          <span id={`${id}-about`} className="about small muted">
            {' '}
            {description}
          </span>
        )}
      </span>
    </div>
  );
}

/** Renders a choice between a few options as a row of buttons. */
export function Choices<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly (readonly [T, string])[];
  readonly value: T | null;
  readonly onChange: (value: T) => void;
}) {
  return (
    <fieldset className="choices" aria-label={label}>
      {options.map(([name, word]) => (
        <button
          key={name}
          type="button"
          className="choice"
          aria-pressed={name === value}
          onClick={() => onChange(name)}
        >
          {word}
        </button>
      ))}
    </fieldset>
  );
}
