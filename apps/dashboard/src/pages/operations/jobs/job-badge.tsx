import { Ban, CircleCheck, Clock, LoaderCircle, Skull, Undo2 } from 'lucide-react';
import { Badge } from '../../../parts/badge.tsx';
import type { JobState } from './job-states.ts';
import { words } from './strings.ts';

const badges = {
  ready: ['info', Clock],
  active: ['info', LoaderCircle],
  deferred: ['calm', Clock],
  retry: ['wait', Undo2],
  dead: ['bad', Skull],
  completed: ['good', CircleCheck],
  canceled: ['calm', Ban],
} as const;

export function JobBadge({ state }: { readonly state: JobState }) {
  const [tone, icon] = badges[state];
  return (
    <Badge tone={tone} icon={icon}>
      {words.states[state]}
    </Badge>
  );
}
