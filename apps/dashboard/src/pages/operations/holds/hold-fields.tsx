import { nowMs } from '../../../parts/clock.ts';
import { Field } from '../../../parts/field.tsx';
import { ReasonField } from '../../../parts/reason-field.tsx';

const HOUR_MS = 3_600_000;
const USUAL_HOURS = 24;
const MOST_HOURS = 720;

const words = {
  reason: 'Shown beside everything that waits because of it, and kept in the audit log.',
  hours: 'Ends by itself after hours',
  hoursAbout: 'Up to 720, which are 30 days.',
  endless: 'Empty: it stays until it is released.',
};

/** Why a hold is made, and how long it lasts. */
export function HoldReason({
  problems,
  first = false,
}: {
  readonly problems: ReadonlyMap<string, string>;
  readonly first?: boolean;
}) {
  return <ReasonField about={words.reason} problem={problems.get('reason')} most={1000} required first={first} />;
}

export function HoldDuration({
  problems,
  endless = false,
}: {
  readonly problems: ReadonlyMap<string, string>;
  /** It may stay until it is released. */
  readonly endless?: boolean;
}) {
  return (
    <Field
      key={String(endless)}
      label={words.hours}
      name="hours"
      about={endless ? words.endless : words.hoursAbout}
      problem={problems.get('expires_at')}
    >
      {(control) => (
        <input
          {...control}
          className="input"
          type="number"
          min={1}
          max={MOST_HOURS}
          defaultValue={endless ? '' : USUAL_HOURS}
        />
      )}
    </Field>
  );
}

/** When the hold of this form ends; an empty object where that is left to the server. */
export function holdEnd(form: FormData): { readonly expires_at?: string } {
  const hours = Number(form.get('hours'));
  return hours > 0 ? { expires_at: new Date(nowMs() + hours * HOUR_MS).toISOString() } : {};
}
