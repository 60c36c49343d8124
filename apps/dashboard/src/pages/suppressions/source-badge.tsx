import { Ban, MessageSquareWarning, Undo2, UserX } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { words } from './strings.ts';

export type Suppression = Outputs['suppressions']['list']['data'][number];

const badges: Readonly<Record<Suppression['source'], readonly [Tone, typeof Ban]>> = {
  bounce: ['bad', Undo2],
  complaint: ['wait', MessageSquareWarning],
  manual: ['calm', UserX],
  import: ['calm', Ban],
};

export function SourceBadge({ source }: Pick<Suppression, 'source'>) {
  const [tone, icon] = badges[source];
  return (
    <Badge tone={tone} icon={icon}>
      {words.causes[source]}
    </Badge>
  );
}
