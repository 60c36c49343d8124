import { useQuery } from '@tanstack/react-query';
import { BellRing, CircleCheck } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { QueryView } from '../../../parts/states.tsx';
import { words } from './strings.ts';

type Rule = Outputs['alarms']['rules'][number];

const text = words.rules;

const columns: readonly Column<Rule>[] = [
  {
    name: text.columns.title,
    width: '26%',
    wraps: true,
    show: ({ title, runbook }) => (
      <a href={runbook} target="_blank" rel="noreferrer">
        {title}
      </a>
    ),
  },
  { name: text.columns.condition, wraps: true, show: ({ condition }) => condition },
  { name: text.columns.access, width: 'fit', less: true, show: ({ access }) => text.scopes[access] },
  {
    name: text.columns.state,
    width: 'fit',
    show: ({ active }) =>
      active > 0 ? (
        <Badge tone="bad" icon={BellRing}>
          {text.active(active)}
        </Badge>
      ) : (
        <Badge tone="calm" icon={CircleCheck}>
          {text.inactive}
        </Badge>
      ),
  },
];

/** Lists the rules that judge the workspace or the instance, with their thresholds. */
export function AlarmRules({ access }: { readonly access: Rule['access'] }) {
  const rules = useQuery(trpc.alarms.rules.queryOptions({ access }));
  return (
    <Panel title={text.title} bare>
      <QueryView query={rules}>
        {(rows) => (
          <List
            label={text.title}
            columns={columns}
            rows={rows}
            idOf={({ rule }) => rule}
            nameOf={({ title }) => title}
          />
        )}
      </QueryView>
    </Panel>
  );
}
