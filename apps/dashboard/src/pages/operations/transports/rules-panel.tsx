import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, Pencil, Plus, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel, Notice, QueryView } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import type { Reach } from '../reach/use-reach.ts';
import { needs, paths } from './paths.ts';
import { RoutePreview } from './route-preview.tsx';
import { RuleForm } from './rule-form.tsx';
import { words } from './strings.ts';
import type { Choice, Rule } from './transport.ts';

const text = words.rules;
const conditions = ['from_domain', 'destination', 'tag', 'priority', 'workspace_id'] as const;

/** Shows the rules in order. Changes are a draft until they are saved, so that they can be previewed. */
export function RulesPanel({ reach, choices }: { readonly reach: Reach; readonly choices: readonly Choice[] }) {
  const rules = useQuery(trpc.transports.rules.queryOptions({ reach }));
  const { open, rule: position } = useSearch({ from: `/shell${paths[reach]}` });
  const navigate = useNavigate({ from: paths[reach] });
  const [draft, setDraft] = useState<readonly Rule[] | null>(null);
  const save = useMutation(
    trpc.transports.setRules.mutationOptions({
      onSuccess: () => {
        setDraft(null);
        toast(text.saved);
      },
    }),
  );
  const about = reach === 'instance' ? text : words.own.rules;
  const rows = draft ?? rules.data?.data ?? [];
  const row = position === undefined ? undefined : rows[position - 1];
  const close = () => void navigate({ search: {}, replace: true });
  const apply = (rule: Rule) => setDraft(row ? rows.map((one) => (one === row ? rule : one)) : [...rows, rule]);
  return (
    <>
      <Panel
        title={text.title}
        actions={
          <Button small needs={needs[reach]} onClick={() => void navigate({ search: { open: 'rule' } })}>
            <Plus size={14} />
            {text.add}
          </Button>
        }
      >
        <QueryView query={rules} lines={3}>
          {() => (
            <div className="stack">
              <p className="muted small">{rows.length === 0 ? about.none : about.about}</p>
              <RuleList
                rules={rows}
                choices={choices}
                onChange={setDraft}
                onEdit={(number) => void navigate({ search: { open: 'rule', rule: number } })}
              />
              {draft !== null && (
                <Notice tone="info">
                  <p>{text.unsaved}</p>
                  <p className="line">
                    <Button
                      kind="primary"
                      small
                      busy={save.isPending}
                      onClick={() => save.mutate({ reach, rules: draft })}
                    >
                      {text.save}
                    </Button>
                    <Button small onClick={() => setDraft(null)}>
                      {text.discard}
                    </Button>
                  </p>
                </Notice>
              )}
              {save.error !== null && <ErrorPanel error={save.error} />}
            </div>
          )}
        </QueryView>
      </Panel>
      <RoutePreview reach={reach} rules={rows} choices={choices} />
      {open === 'rule' && (
        <RuleForm
          reach={reach}
          rule={row ?? null}
          number={position ?? rows.length + 1}
          choices={choices}
          onApply={apply}
          onClose={close}
        />
      )}
    </>
  );
}

function RuleList({
  rules,
  choices,
  onChange,
  onEdit,
}: {
  readonly rules: readonly Rule[];
  readonly choices: readonly Choice[];
  readonly onChange: (rules: readonly Rule[]) => void;
  readonly onEdit: (number: number) => void;
}) {
  const list = useRef<HTMLOListElement>(null);
  // The pressed button may be gone, and the focus would return to the top of the page.
  const change = (next: readonly Rule[], ...labels: readonly string[]) => {
    flushSync(() => onChange(next));
    focusFirst(list.current?.closest('section'), labels);
  };
  const move = (index: number, step: 1 | -1) => {
    const others = rules.toSpliced(index, 1);
    const [rule] = rules.slice(index, index + 1);
    const number = index + step + 1;
    const labels = step < 0 ? [text.up(number), text.down(number)] : [text.down(number), text.up(number)];
    if (rule) change(others.toSpliced(index + step, 0, rule), ...labels);
  };
  const remove = (index: number) =>
    change(rules.toSpliced(index, 1), text.remove(index + 1), text.remove(index), text.add);
  return (
    <ol className="stack-s rules" ref={list} aria-label={text.title}>
      {rules.map((rule, index) => (
        // A rule has no ID, and two rules may be equal.
        <li key={index} className="line">
          <span className="num muted">{index + 1}</span>
          <span className="grow">{sentenceOf(rule, choices)}</span>
          <span className="line">
            {index > 0 && (
              <Button kind="icon plain" label={text.up(index + 1)} onClick={() => move(index, -1)}>
                <ArrowUp size={14} />
              </Button>
            )}
            {index < rules.length - 1 && (
              <Button kind="icon plain" label={text.down(index + 1)} onClick={() => move(index, 1)}>
                <ArrowDown size={14} />
              </Button>
            )}
            <Button kind="icon plain" label={text.edit(index + 1)} onClick={() => onEdit(index + 1)}>
              <Pencil size={14} />
            </Button>
            <Button kind="icon plain" label={text.remove(index + 1)} onClick={() => remove(index)}>
              <X size={14} />
            </Button>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Focuses the first of the buttons that exists. */
function focusFirst(panel: HTMLElement | null | undefined, labels: readonly string[]): void {
  const buttons = [...(panel?.querySelectorAll('button') ?? [])];
  const nameOf = (button: HTMLElement) => button.ariaLabel ?? button.textContent?.trim();
  const [first] = labels.flatMap((label) => buttons.find((button) => nameOf(button) === label) ?? []);
  first?.focus();
}

/** Returns a rule as a sentence, such as: Email from shop.example tagged receipt, through SES, then DELIVERY. */
function sentenceOf(rule: Rule, choices: readonly Choice[]): string {
  const parts = conditions.flatMap((name) => {
    const value = rule[name];
    return value === null ? [] : [`${text.conditions[name]} ${value}`];
  });
  const names = rule.transports.map((id) => choices.find((one) => one.id === id)?.name ?? id);
  return `${parts.length === 0 ? text.all : `${text.some} ${parts.join(', ')}`} ${text.via} ${names.join(text.next)}`;
}
