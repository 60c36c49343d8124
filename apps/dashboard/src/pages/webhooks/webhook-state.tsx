import { CircleAlert, CircleCheck, CircleDashed, CircleOff } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { words } from './strings.ts';

type Facts = Pick<Outputs['webhooks']['get'], 'status' | 'status_reason' | 'failing_since' | 'last_success_at'>;

export function WebhookState({
  webhook,
  tried = false,
}: {
  readonly webhook: Facts;
  /** Whether anything was sent to it in the last 24 hours. */
  readonly tried?: boolean;
}) {
  const { status, status_reason, failing_since, last_success_at } = webhook;
  if (status === 'disabled') {
    return (
      <Badge tone="calm" icon={CircleOff} title={status_reason ?? undefined}>
        {words.states.disabled}
      </Badge>
    );
  }
  if (failing_since !== null) {
    return (
      <Badge tone="bad" icon={CircleAlert} title={words.failingAbout}>
        {words.states.failing}
      </Badge>
    );
  }
  return last_success_at === null ? (
    <Badge tone={tried ? 'wait' : 'info'} icon={CircleDashed}>
      {tried ? words.states.unproven : words.states.fresh}
    </Badge>
  ) : (
    <Badge tone="good" icon={CircleCheck}>
      {words.states.enabled}
    </Badge>
  );
}
