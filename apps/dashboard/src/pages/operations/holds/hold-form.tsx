import { useState } from 'react';
import { nowMs } from '../../../api/clock.ts';
import { may, useMe } from '../../../api/me.ts';
import { client, type Inputs } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Choices, Field } from '../../../parts/field.tsx';
import { ReasonField, reasonIn } from '../../../parts/reason-field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { targetOf, words } from './strings.ts';

type Scope = Inputs['holds']['create']['scope'];

const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = 24;
const MAX_HOURS = 720;
const scopes = Object.entries(words.scopes) as [Scope, string][];
const instance_scopes: readonly Scope[] = ['instance', 'queue', 'destination'];

/** Holds one target. Without a target, the form first asks what to hold. */
export function HoldForm({
  target,
  onClose,
}: {
  readonly target?: { readonly scope: Scope; readonly value: string };
  readonly onClose: () => void;
}) {
  const operator = may(useMe(), 'operator');
  const [scope, setScope] = useState<Scope>(target?.scope ?? (operator ? 'destination' : 'sender_domain'));
  const text = words.creating;
  const endless = scope === 'instance';
  const create = (form: FormData) => {
    const [hours, rate] = [Number(form.get('hours')), Number(form.get('rate'))];
    return client.holds.create.mutate({
      scope,
      value: target?.value ?? (scope === 'instance' ? 'all' : String(form.get('value') ?? '').trim()),
      reason: reasonIn(form),
      ...(hours > 0 && { expires_at: new Date(nowMs() + hours * HOUR_MS).toISOString() }),
      ...(rate > 0 && { resume_rate_per_minute: rate }),
    });
  };
  return (
    <FormDialog
      title={target ? text.titleOf(target.value) : text.title}
      about={target && <p>{scope === 'queue' ? text.queueAbout : text.mailAbout(scope === 'destination')}</p>}
      submit={text.submit}
      run={create}
      onDone={(hold) => toast(text.done(targetOf(hold)))}
      onClose={onClose}
    >
      {(problems) => (
        <>
          {!target && (
            <>
              <div className="field">
                <span className="label">{text.scope}</span>
                <Choices
                  label={text.scope}
                  options={scopes.filter(([name]) => operator || !instance_scopes.includes(name))}
                  value={scope}
                  onChange={setScope}
                />
              </div>
              {scope === 'instance' ? (
                <p className="muted">{text.instanceAbout}</p>
              ) : (
                <Field label={text.value} name="value" about={text.values[scope]} problem={problems.get('value')}>
                  {(control) => <input {...control} className="input mono" autoComplete="off" required autoFocus />}
                </Field>
              )}
            </>
          )}
          <ReasonField
            about={text.reasonAbout}
            problem={problems.get('reason')}
            most={1000}
            required
            first={!!target}
          />
          <Field
            key={String(endless)}
            label={text.hours}
            name="hours"
            about={endless ? text.endless : text.hoursAbout}
            problem={problems.get('expires_at')}
          >
            {(control) => (
              <input
                {...control}
                className="input"
                type="number"
                min={1}
                max={MAX_HOURS}
                defaultValue={endless ? '' : DEFAULT_HOURS}
              />
            )}
          </Field>
          {target?.scope !== 'queue' && (
            <Field
              label={text.rate}
              name="rate"
              about={text.rateAbout}
              problem={problems.get('resume_rate_per_minute')}
            >
              {(control) => <input {...control} className="input" type="number" min={1} max={60_000} />}
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}
