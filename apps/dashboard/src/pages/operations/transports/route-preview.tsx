import { useMutation } from '@tanstack/react-query';
import { problemOf } from '../../../api/problem.ts';
import { type Inputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel, Notice } from '../../../parts/states.tsx';
import type { Reach } from '../reach/use-reach.ts';
import { words } from './strings.ts';
import type { Choice, Rule } from './transport.ts';
import { Select } from './transport-form.tsx';

const text = words.preview;
const fields = [
  ['from_domain', words.rules.fromDomain, 'shop.example'],
  ['to_domain', words.rules.destination, 'example.com'],
  ['tag', words.rules.tag, ''],
] as const;

/** Shows which transports a sample email would use by the rules of the draft, in which order, and why. */
export function RoutePreview({
  reach,
  rules,
  choices,
}: {
  readonly reach: Reach;
  readonly rules: readonly Rule[];
  readonly choices: readonly Choice[];
}) {
  const preview = useMutation(trpc.transports.preview.mutationOptions());
  const problems = preview.error === null ? new Map<string, string>() : problemOf(preview.error).fields;
  // The list calls the default transport by the name that fits its owner.
  const nameOf = ({ id, name }: Choice) => choices.find((one) => one.id === id)?.name ?? name;
  const run = (form: FormData) => {
    const read = (name: string) => String(form.get(name) ?? '').trim();
    preview.mutate({
      reach,
      rules,
      from_domain: read('from_domain'),
      to_domain: read('to_domain'),
      tags: read('tag') === '' ? [] : [read('tag')],
      // The cast is safe because the options of the select are the priorities.
      priority: read('priority') as Inputs['transports']['preview']['priority'],
    });
  };
  return (
    <Panel title={text.title}>
      <Form label={text.title} onSubmit={run} fault={preview.error}>
        <p className="muted small">{text.about}</p>
        {fields.map(([name, label, placeholder]) => (
          <Field key={name} label={label} name={name} problem={problems.get(name)}>
            {(control) => <input {...control} className="input mono" autoComplete="off" placeholder={placeholder} />}
          </Field>
        ))}
        <Select label={words.rules.priority} name="priority" options={words.rules.priorities} value="normal" />
        <div>
          <Button type="submit" busy={preview.isPending}>
            {text.submit}
          </Button>
        </div>
        <div role="status">
          {preview.data && (
            <Notice tone="info">
              <p>
                {preview.data.rule === null ? text.none : text.rule(preview.data.rule)}{' '}
                <strong>{preview.data.transports.map(nameOf).join(words.rules.next)}</strong>.
                {preview.data.captured && ` ${text.captured}`}
              </p>
            </Notice>
          )}
        </div>
        {preview.error !== null && problems.size === 0 && <ErrorPanel error={preview.error} />}
      </Form>
    </Panel>
  );
}
