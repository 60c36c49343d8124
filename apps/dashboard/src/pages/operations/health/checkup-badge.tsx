import { CircleAlert, CircleCheck, CircleSlash, TriangleAlert } from 'lucide-react';
import { Badge } from '../../../parts/badge.tsx';
import { words } from './strings.ts';

const badges = {
  ok: ['good', CircleCheck],
  skipped: ['calm', CircleSlash],
  warning: ['wait', TriangleAlert],
  failing: ['bad', CircleAlert],
} as const;

/** Shows the result of one check. */
export function CheckupBadge({ status }: { readonly status: keyof typeof badges }) {
  const [tone, icon] = badges[status];
  return (
    <Badge tone={tone} icon={icon}>
      {words.statuses[status]}
    </Badge>
  );
}
