import { CircleAlert, CircleCheck, Clock } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { words } from './strings.ts';

type Delivery = Outputs['deliveries']['list']['data'][number];

const badges = { pending: ['wait', Clock], delivered: ['good', CircleCheck], failed: ['bad', CircleAlert] } as const;

export function DeliveryBadge({ status }: Pick<Delivery, 'status'>) {
  const [tone, icon] = badges[status];
  return (
    <Badge tone={tone} icon={icon}>
      {words.detail.states[status]}
    </Badge>
  );
}
