import type { WebhookSink } from '@postrider/testing';
import type { Journey } from '../journey.ts';

export const ALERT_EMAIL = 'grace@operator.test';
// Three missed heartbeats, the minimum duration, and two watch intervals.
export const PATIENCE = { timeout: 150_000, interval: 200 };

interface Notice {
  readonly notice: string;
  readonly rule: string;
}

/** Returns the notices that a webhook received, such as `start no_worker`. */
export function posted(hook: WebhookSink): string[] {
  return hook.requests
    .flatMap(({ body }) => (JSON.parse(body.toString()) as { alarms: Notice[] }).alarms)
    .map(({ notice, rule }) => `${notice} ${rule}`);
}

/** Returns the subjects of the notices that arrived by email. */
export function mailed({ smtp }: Journey): (string | undefined)[] {
  return smtp.messages
    .filter(({ envelope_to }) => envelope_to.includes(ALERT_EMAIL))
    .map(({ raw }) => /^Subject: (.*)$/m.exec(raw.toString())?.[1]?.trim());
}
