import { createHttpGuard, type HttpGuard, type HttpOutcome } from '@postrider/net';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { DecryptionError } from '../process/encryption.ts';
import { createSigner, egressOf, openSecret } from '../webhooks/index.ts';
import { emailOf, type Notice, noticesId, webhookBody } from './notice-body.ts';
import type { OwnerSettings } from './notice-store.ts';
import { senderOf } from './sender.ts';
import { formOf, type WebhookForm } from './settings-store.ts';

const USER_AGENT = 'Postrider-Alarms/1';
// The operator of the machine may send notices to any address.
const ANYWHERE = ['0.0.0.0/0', '::/0'];

export type WebhookSettings = Pick<
  OwnerSettings,
  'workspace_id' | 'webhook_url' | 'webhook_format' | 'webhook_secret' | 'webhook_previous_secret'
>;

/** The result of a notice for one destination. */
export interface NoticeOutcome {
  readonly kind: 'email' | 'webhook';
  /** An email address or the host of a webhook. */
  readonly destination: string;
  readonly accepted: boolean;
  readonly detail: string;
}

interface Target {
  readonly url: string;
  readonly http: HttpGuard;
  readonly form: WebhookForm;
  /** The encrypted secrets that sign, if there are any. */
  readonly secrets: readonly Buffer[];
}

/** Sends notices to the destinations of an owner, for an alert or a test. */
export interface NoticeSender {
  /** Posts to every webhook. Never throws. */
  post(owner: WebhookSettings, notices: readonly Notice[]): Promise<readonly NoticeOutcome[]>;
  /** Sends one email to every address. */
  email(owner: OwnerSettings, notices: readonly Notice[]): Promise<readonly NoticeOutcome[]>;
  stop(): Promise<void>;
}

export function createNoticeSender(services: Services): NoticeSender {
  const { clock, config, encryption, log, public_url } = services;
  const own = createHttpGuard({ ...egressOf(config), allow_networks: ANYWHERE });
  const guarded = createHttpGuard(egressOf(config));

  const targetsOf = (owner: WebhookSettings): Target[] => {
    const secrets = [owner.webhook_secret, owner.webhook_previous_secret].filter((secret) => secret !== null);
    const { workspace_id, webhook_url: url, webhook_format: form } = owner;
    const operator_url = workspace_id === INSTANCE ? config.ALERT_WEBHOOK_URL : undefined;
    return [
      ...(url === null ? [] : [{ url, http: guarded, form, secrets }]),
      // Two receivers must not share a secret, so this one gets unsigned notices.
      ...(operator_url === undefined
        ? []
        : [{ url: operator_url, http: own, form: formOf(operator_url), secrets: [] }]),
    ];
  };
  /** Returns no headers without a secret, and null if it cannot be decrypted: unsigned, the notice would look forged. */
  const signatureOf = (
    workspace_id: string,
    secrets: readonly Buffer[],
    notices: readonly Notice[],
    body: Buffer,
  ): Record<string, string> | null => {
    if (secrets.length === 0) return {};
    try {
      const opened = secrets.map((secret) => openSecret(encryption, workspace_id, secret));
      return createSigner(opened)(noticesId(notices), clock.now(), body);
    } catch (error) {
      if (error instanceof DecryptionError) return null;
      throw error;
    }
  };
  const postTo = async (
    workspace_id: string,
    { url, http, form, secrets }: Target,
    notices: readonly Notice[],
  ): Promise<NoticeOutcome> => {
    const body = webhookBody(form, notices, public_url);
    const began_ms = performance.now();
    const signature = form === 'slack' ? {} : signatureOf(workspace_id, secrets, notices, body);
    const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...signature };
    const outcome: HttpOutcome =
      signature === null
        ? { kind: 'failed', error: 'the webhook secret could not be decrypted' }
        : await http.post({ url, headers, body });
    const accepted = outcome.kind === 'answered' && outcome.status >= 200 && outcome.status <= 299;
    const detail = webhookDetail(outcome, Math.round(performance.now() - began_ms));
    return { kind: 'webhook', destination: new URL(url).host, accepted, detail };
  };
  return {
    async post(owner, notices) {
      const outcomes = await Promise.all(targetsOf(owner).map((target) => postTo(owner.workspace_id, target, notices)));
      const failed = outcomes.filter(({ accepted }) => !accepted);
      if (failed.length > 0) log.warn({ count: failed.length }, 'the alert webhook rejected an alert');
      return outcomes;
    },
    async email(owner, notices) {
      const to = emailsOf(services, owner);
      if (to.length === 0) return [];
      const sent = await sendEmail(services, owner, to, notices);
      const detail = sent ? 'Email accepted for delivery' : 'Email not sent: no verified domain';
      return to.map((destination) => ({ kind: 'email', destination, accepted: sent, detail }));
    },
    async stop() {
      await Promise.all([own.stop(), guarded.stop()]);
    },
  };
}

function webhookDetail(outcome: HttpOutcome, duration_ms: number): string {
  if (outcome.kind === 'answered') return `Webhook returned ${outcome.status} in ${duration_ms} ms`;
  return `Webhook: ${/ECONNREFUSED/.test(outcome.error) ? 'connection refused' : outcome.error}`;
}

export function hasDestination(services: Pick<Services, 'config'>, owner: OwnerSettings): boolean {
  const has_operator_url = owner.workspace_id === INSTANCE && services.config.ALERT_WEBHOOK_URL !== undefined;
  return owner.webhook_url !== null || has_operator_url || emailsOf(services, owner).length > 0;
}

/** Returns the addresses that get an owner's notices. */
export function emailsOf({ config }: Pick<Services, 'config'>, owner: OwnerSettings): readonly string[] {
  const operator_emails = owner.workspace_id === INSTANCE && config.ALERT_EMAIL ? [config.ALERT_EMAIL] : [];
  return [...new Set([...owner.emails, ...operator_emails])];
}

/** Returns false if no domain can send it. */
async function sendEmail(
  services: Services,
  owner: OwnerSettings,
  to: readonly string[],
  notices: readonly Notice[],
): Promise<boolean> {
  const { log, public_url } = services;
  const sender = await senderOf(services, owner);
  if (!sender) {
    log.warn({ workspace_id: owner.workspace_id }, 'alert email was not sent: no verified domain');
    return false;
  }
  const ctx = createContext(services, { kind: 'system', workspace_id: sender.workspace_id });
  await invoke(ctx, sendMessage, { from: sender.from, to, ...emailOf(notices, public_url), tags: ['alarm'] });
  return true;
}
