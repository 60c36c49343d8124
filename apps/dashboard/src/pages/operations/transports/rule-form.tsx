import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import type { Reach } from '../reach/use-reach.ts';
import { words } from './strings.ts';
import type { Choice, Rule } from './transport.ts';
import { Select } from './transport-form.tsx';

const text = words.rules;
const MAX_TRIED = 5;
const conditions = [
  ['from_domain', text.fromDomain],
  ['destination', text.destination],
  ['tag', text.tag],
  ['workspace_id', text.workspace],
] as const;

/** Edits one rule of the draft. The server checks it when the rules are saved. */
export function RuleForm({
  reach,
  rule,
  number,
  choices,
  onApply,
  onClose,
}: {
  readonly reach: Reach;
  /** Null adds a new rule. */
  readonly rule: Rule | null;
  readonly number: number;
  readonly choices: readonly Choice[];
  readonly onApply: (rule: Rule) => void;
  readonly onClose: () => void;
}) {
  const options = Object.fromEntries(choices.map(({ id, name }) => [id, name]));
  const fields = reach === 'instance' ? conditions : conditions.filter(([name]) => name !== 'workspace_id');
  const apply = async (form: FormData): Promise<Rule> => {
    const read = (name: string) => String(form.get(name) ?? '').trim() || null;
    const ids = Array.from({ length: MAX_TRIED }, (_, index) => read(`transport_${index}`));
    return {
      from_domain: read('from_domain'),
      destination: read('destination'),
      tag: read('tag'),
      // The cast is safe because the options of the select are the priorities.
      priority: read('priority') as Rule['priority'],
      workspace_id: read('workspace_id'),
      transports: [...new Set(ids.filter((id) => id !== null))],
    };
  };
  return (
    <FormDialog
      title={rule === null ? text.adding : text.editing(number)}
      submit={text.submit}
      run={apply}
      onDone={onApply}
      onClose={onClose}
    >
      {() => (
        <>
          {fields.map(([name, label], index) => (
            <Field key={name} label={label} name={name} about={text.anyAbout}>
              {(control) => (
                <input
                  {...control}
                  className="input mono"
                  autoComplete="off"
                  defaultValue={rule?.[name] ?? ''}
                  autoFocus={index === 0}
                />
              )}
            </Field>
          ))}
          <Select
            label={text.priority}
            name="priority"
            options={text.priorities}
            value={rule?.priority ?? ''}
            empty={text.any}
          />
          {Array.from({ length: MAX_TRIED }, (_, index) => (
            <Select
              key={index}
              label={index === 0 ? text.first : text.fallback(index)}
              name={`transport_${index}`}
              options={options}
              value={rule?.transports[index] ?? ''}
              empty={index === 0 ? undefined : text.noFallback}
            />
          ))}
        </>
      )}
    </FormDialog>
  );
}
