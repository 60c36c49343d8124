import { CircleCheck, CircleSlash, TriangleAlert } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { type Column, List } from '../../../parts/list.tsx';
import { type ContentCheck, checkContent } from './content-checks.ts';
import { words } from './strings.ts';

const badges = {
  ok: ['good', CircleCheck],
  warning: ['wait', TriangleAlert],
  skipped: ['calm', CircleSlash],
} as const;

const columns: readonly Column<ContentCheck>[] = [
  { name: words.checks.columns.check, width: '26%', show: ({ name }) => words.checks.names[name] },
  {
    name: words.checks.columns.state,
    width: 'fit',
    show: ({ state }) => {
      const [tone, icon] = badges[state];
      return (
        <Badge tone={tone} icon={icon}>
          {words.checks.states[state]}
        </Badge>
      );
    },
  },
  { name: words.checks.columns.found, wraps: true, show: ({ detail }) => detail },
];

/** Shows what in the content readers and filters may trip over. */
export function Checks({
  content,
  subject,
}: {
  readonly content: Outputs['emails']['content'];
  readonly subject: string;
}) {
  return (
    <List
      label={words.checks.label}
      columns={columns}
      rows={checkContent(content, subject)}
      idOf={({ name }) => name}
      nameOf={({ name }) => words.checks.names[name]}
    />
  );
}
