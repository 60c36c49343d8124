import { CircleCheck, Clock, LoaderCircle } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { words } from './strings.ts';

type Erasure = Outputs['erasures']['get'];

const badges = {
  queued: ['info', Clock],
  running: ['info', LoaderCircle],
  completed: ['good', CircleCheck],
} as const;

export function ErasureBadge({ status }: Pick<Erasure, 'status'>) {
  const [tone, icon] = badges[status];
  return (
    <Badge tone={tone} icon={icon}>
      {words.statuses[status]}
    </Badge>
  );
}
