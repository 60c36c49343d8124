import type { backlogDimensions } from '@postrider/core/backlog';
import type { bulkActions, bulkOutcomes } from '@postrider/core/bulk';
import type { failureKinds } from '@postrider/core/failures';
import type { providerNames } from '@postrider/core/feedback';
import type { holdScopes as scopesOfHolds } from '@postrider/core/holds';
import type { workspaceRoles } from '@postrider/core/people';
import type { priorities as allPriorities } from '@postrider/core/priorities';
import type { buckets, metrics, statDimensions } from '@postrider/core/stats';
import type { envelopeSenders, signingPolicies, tlsPolicies, transportKinds } from '@postrider/core/transports';
import type { unknownPolicies } from '@postrider/core/workspaces';

// The values that options accept. Only types are imported from core, because loading it takes half a second; a value
// missing here does not compile.

function valuesOf<V extends string>(all: Readonly<Record<V, true>>): V[] {
  // The cast is safe because the keys of the table are its values.
  return Object.keys(all) as V[];
}

export const holdScopes = valuesOf<(typeof scopesOfHolds)[number]>({
  instance: true,
  queue: true,
  destination: true,
  sender_domain: true,
  api_key: true,
  webhook: true,
});

export const actionsInBulk = valuesOf<(typeof bulkActions)[number]>({
  retry: true,
  cancel: true,
  give_up: true,
  send_now: true,
  delete: true,
  export: true,
  replay: true,
  redrive: true,
});

export const feedback_providers = valuesOf<(typeof providerNames)[number]>({
  generic: true,
  ses: true,
  postmark: true,
  sendgrid: true,
  mailgun: true,
  resend: true,
  brevo: true,
});
export const envelope_senders = valuesOf<(typeof envelopeSenders)[number]>({ ours: true, from_domain: true });

export const signing_policies = valuesOf<(typeof signingPolicies)[number]>({ all: true, relay_safe: true, none: true });

export const item_outcomes = valuesOf<(typeof bulkOutcomes)[number]>({ done: true, skipped: true, failed: true });

export const bucket_lengths = valuesOf<(typeof buckets)[number]>({ minute: true, hour: true, day: true });

export const stat_dimensions = valuesOf<(typeof statDimensions)[number]>({
  none: true,
  domain: true,
  tag: true,
  provider: true,
  destination: true,
  api_key: true,
  transport: true,
});

export const stat_metrics = valuesOf<(typeof metrics)[number]>({
  accepted: true,
  delivered: true,
  captured: true,
  relayed: true,
  bounced: true,
  deferred: true,
  failed: true,
  complained: true,
  suppressed: true,
  canceled: true,
  accept_to_first_attempt_p50: true,
  accept_to_first_attempt_p95: true,
  accept_to_first_attempt_p99: true,
  accept_to_delivered_p50: true,
  accept_to_delivered_p95: true,
  accept_to_delivered_p99: true,
});

export const backlog_dimensions = valuesOf<(typeof backlogDimensions)[number]>({
  destination: true,
  provider: true,
  sender_domain: true,
  tag: true,
  api_key: true,
  transport: true,
});

export const failure_kinds = valuesOf<(typeof failureKinds)[number]>({
  smtp: true,
  webhook: true,
  dns: true,
  job: true,
});

export const policies = valuesOf<(typeof unknownPolicies)[number]>({ resend: true, stop: true });

export const member_roles = valuesOf<(typeof workspaceRoles)[number]>({ viewer: true, member: true, admin: true });

export const transport_kinds = valuesOf<(typeof transportKinds)[number]>({ mx: true, smtp: true });

export const tls_policies = valuesOf<(typeof tlsPolicies)[number]>({
  starttls: true,
  implicit: true,
  opportunistic: true,
  none: true,
});

export const priorities = valuesOf<(typeof allPriorities)[number]>({ high: true, normal: true, bulk: true });
