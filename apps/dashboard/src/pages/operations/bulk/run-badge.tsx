import { Ban, CircleCheck, LoaderCircle } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { words } from './strings.ts';

type Run = Outputs['ops']['bulkGet'];

export function isRunning({ status }: Pick<Run, 'status'>): boolean {
  return status !== 'completed' && status !== 'canceled';
}

export function RunBadge({ status }: Pick<Run, 'status'>) {
  const [tone, icon] =
    status === 'completed'
      ? (['good', CircleCheck] as const)
      : status === 'canceled'
        ? (['calm', Ban] as const)
        : (['info', LoaderCircle] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {words.statuses[status]}
    </Badge>
  );
}
