import type { Sql } from '@postrider/db';
import { domainOf, type SendOutcome } from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import { type DeliveryState, openStates } from '../states/index.ts';
import type { RefusalCategory } from './classify.ts';
import { providerDomains } from './providers-store.ts';
import type { DeliveryRow } from './store.ts';

// Labels are limited to the first providers this process sees; the others are counted together.
const MAX_PROVIDERS = 12;
const OTHER = 'other';

interface Providers {
  readonly byDomain: ReadonlyMap<string, string>;
  readonly named: Set<string>;
}

// The table does not change while a process runs.
const known = new WeakMap<Sql, Promise<Providers>>();

/** Maps an address to its provider, as one of a bounded number of label values. */
async function providersOf(sql: Sql): Promise<(email: string) => string> {
  const loading = known.get(sql) ?? providerDomains(sql).then((byDomain) => ({ byDomain, named: new Set<string>() }));
  known.set(sql, loading);
  const { byDomain, named: names } = await loading.catch((error: unknown) => {
    known.delete(sql);
    throw error;
  });
  return (email) => {
    const provider = byDomain.get(domainOf(email).toLowerCase());
    if (provider === undefined) return OTHER;
    if (names.size < MAX_PROVIDERS) names.add(provider);
    return names.has(provider) ? provider : OTHER;
  };
}

/** An attempt whose result was recorded. */
export interface AttemptRecord {
  readonly delivery: Pick<DeliveryRow, 'message_id' | 'recipient_id' | 'email' | 'created_at' | 'scheduled_at'>;
  readonly number: number;
  readonly outcome: SendOutcome;
  readonly category: RefusalCategory | null;
  readonly to: DeliveryState;
  readonly duration_ms: number;
  /** The transport that was tried last. */
  readonly transport: string;
}

/** Counts attempts whose results were recorded. A failure here loses a count, never a result. */
export async function meterAttempts(
  { metrics, sql, log, mail_log }: Pick<Services, 'metrics' | 'sql' | 'log' | 'mail_log'>,
  attempts: readonly AttemptRecord[],
  now_ms: number,
): Promise<void> {
  try {
    const providerOf = await providersOf(sql);
    for (const { delivery, number, outcome, category, to, duration_ms, transport } of attempts) {
      metrics.count('smtp_attempts_total', [outcome.kind, category ?? 'none', providerOf(delivery.email)]);
      metrics.count('transport_attempts_total', [transport, outcome.kind]);
      const { connect, tls, mail, data } = outcome.phases_ms;
      for (const [phase, ms] of Object.entries({ dns: outcome.dns_ms ?? 0, connect, tls, mail, data })) {
        if (ms > 0) metrics.observe('smtp_phase_seconds', [phase], ms / 1000);
      }
      const since_ms = Math.max(delivery.created_at.getTime(), delivery.scheduled_at?.getTime() ?? 0);
      const waited = (at_ms: number) => Math.max(0, at_ms - since_ms) / 1000;
      if (number === 1) metrics.observe('accept_to_first_attempt_seconds', [], waited(now_ms - duration_ms));
      if (to === 'delivered') metrics.observe('accept_to_delivered_seconds', [], waited(now_ms));
      if (isOpen(to)) continue;
      metrics.count('messages_finished_total', [to]);
      mail_log.info('mail finished', () => ({
        email_id: delivery.message_id,
        recipient_id: delivery.recipient_id,
        status: to,
        attempts: number,
        seconds: waited(now_ms),
      }));
    }
  } catch (error) {
    log.warn({ err: error }, 'failed to count attempts');
  }
}

function isOpen(state: DeliveryState): boolean {
  return openStates.some((open) => open === state);
}
