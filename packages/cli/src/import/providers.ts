import type { EventType } from '@postrider/sdk';

/** The columns of a provider's export. Names are compared ignoring case, spaces, `_` and `-`. */
export interface Provider {
  readonly name: string;
  readonly suppressions: {
    readonly email: string;
    /** Columns with the cause and the time, stored as the reason of the entry. */
    readonly reason: readonly string[];
    /** Documented columns that are not imported. */
    readonly left: readonly string[];
  };
  readonly domains: { readonly name: string; readonly left: readonly string[] };
  readonly webhooks: {
    readonly url: string;
    readonly left: readonly string[];
    /** `resend` if a receiver of the provider's events can parse that format. */
    readonly format: 'resend' | 'postrider';
    /** Returns the provider's names of the events that a row subscribes to; null for a disabled row. */
    events(fields: Readonly<Record<string, unknown>>): readonly string[] | null;
    /** Our types for each of the provider's event names; a name missing here has no equivalent. */
    readonly types: Readonly<Record<string, readonly EventType[]>>;
  };
}

export const providerNames = ['resend', 'postmark', 'sendgrid', 'ses', 'mailgun'] as const;
export type ProviderName = (typeof providerNames)[number];

const words = (text: string) => text.trim().split(/\s+/);

/** Resend: the responses of GET /suppressions, /domains and /webhooks, and the columns of the package's types. */
const resend: Provider = {
  name: 'Resend',
  suppressions: {
    email: 'email',
    reason: ['origin', 'created_at'],
    left: words('object id source_id'),
  },
  domains: {
    name: 'name',
    left: words(`object id status created_at region capabilities records open_tracking click_tracking tracking_subdomain
      custom_return_path tls dkim_selector`),
  },
  webhooks: {
    url: 'endpoint',
    left: words('object id created_at status events'),
    format: 'resend',
    events({ status, events }) {
      if (status === 'disabled') return null;
      if (Array.isArray(events)) return events.map(String);
      return typeof events === 'string' ? events.split(/[\s,;]+/).filter(Boolean) : [];
    },
    types: {
      'email.sent': ['email.queued'],
      'email.scheduled': ['email.scheduled'],
      'email.delivered': ['email.delivered'],
      'email.delivery_delayed': ['email.delivery_delayed'],
      'email.bounced': ['email.bounced'],
      'email.complained': ['email.complained'],
      'email.failed': ['email.failed'],
      'email.suppressed': ['email.suppressed'],
      'domain.updated': ['domain.verified', 'domain.at_risk', 'domain.failed'],
      'suppression.added': ['suppression.added'],
      'suppression.removed': ['suppression.removed'],
    },
  },
};

/** Postmark: GET /message-streams/{stream}/suppressions/dump, GET /domains and GET /webhooks. */
const postmark: Provider = {
  name: 'Postmark',
  suppressions: {
    email: 'EmailAddress',
    reason: ['SuppressionReason', 'Origin', 'CreatedAt'],
    left: [],
  },
  domains: {
    name: 'Name',
    left: words(`ID SPFVerified SPFHost SPFTextValue DKIMVerified WeakDKIM DKIMHost DKIMTextValue DKIMPendingHost
      DKIMPendingTextValue DKIMRevokedHost DKIMRevokedTextValue SafeToRemoveRevokedKeyFromDNS DKIMUpdateStatus
      ReturnPathDomain ReturnPathDomainVerified ReturnPathDomainCNAMEValue CustomTrackingDomain
      CustomTrackingDomainCNAMEValue CustomTrackingVerified`),
  },
  webhooks: {
    url: 'Url',
    left: words('ID MessageStream HttpAuth HttpHeaders Triggers'),
    format: 'postrider',
    events({ Triggers: triggers }) {
      return Object.entries(triggers ?? {}).flatMap(([name, value]: [string, unknown]) =>
        (value as { readonly Enabled?: unknown } | null)?.Enabled === true ? [name] : [],
      );
    },
    types: {
      Delivery: ['email.delivered'],
      Bounce: ['email.bounced', 'email.failed'],
      SpamComplaint: ['email.complained'],
      SubscriptionChange: ['suppression.added', 'suppression.removed'],
    },
  },
};

/**
 * SendGrid: the CSV from its suppression pages, GET /v3/whitelabel/domains and /v3/user/webhooks/event/settings/all.
 */
const sendgridEvents = words(`delivered deferred bounce dropped processed spam_report open click unsubscribe
  group_unsubscribe group_resubscribe account_status_change`);
const sendgrid: Provider = {
  name: 'SendGrid',
  suppressions: {
    email: 'email',
    reason: ['status', 'reason', 'created', 'created_at'],
    left: words('ip group_id group_name'),
  },
  domains: {
    name: 'domain',
    left: words(`id user_id subdomain username ips custom_spf default legacy automatic_security valid dns
      last_validation_attempt_at subusers`),
  },
  webhooks: {
    url: 'url',
    left: [
      ...words(`id friendly_name enabled public_key oauth_client_id oauth_token_url created_date updated_date
        include_account_status_change`),
      ...sendgridEvents,
    ],
    format: 'postrider',
    events: (fields) => (fields.enabled === false ? null : sendgridEvents.filter((name) => fields[name] === true)),
    types: {
      processed: ['email.queued'],
      delivered: ['email.delivered'],
      deferred: ['email.delivery_delayed'],
      bounce: ['email.bounced'],
      dropped: ['email.suppressed', 'email.failed'],
      spam_report: ['email.complained'],
    },
  },
};

/** SES: what `aws sesv2 list-suppressed-destinations`, `list-email-identities` and `aws sns list-subscriptions` print. */
const ses: Provider = {
  name: 'SES',
  suppressions: {
    email: 'EmailAddress',
    reason: ['Reason', 'LastUpdateTime'],
    left: [],
  },
  domains: {
    name: 'IdentityName',
    left: words('IdentityType SendingEnabled VerificationStatus'),
  },
  webhooks: {
    url: 'Endpoint',
    left: words('SubscriptionArn Owner Protocol TopicArn'),
    format: 'postrider',
    // A subscription says where SNS posts to, and its topic gets these three unless it was set up otherwise.
    events: ({ Protocol: protocol }) => (/^https?$/.test(String(protocol)) ? words('Delivery Bounce Complaint') : []),
    types: {
      Delivery: ['email.delivered'],
      Bounce: ['email.bounced', 'email.failed'],
      Complaint: ['email.complained'],
    },
  },
};

/** Mailgun: GET /v3/{domain}/bounces, /complaints and /unsubscribes or their CSV, /v4/domains and /v1/webhooks. */
const mailgun: Provider = {
  name: 'Mailgun',
  suppressions: {
    email: 'address',
    reason: ['code', 'error', 'created_at'],
    left: words('MessageHash tags count id'),
  },
  domains: {
    name: 'name',
    left: words(`id state type created_at smtp_login smtp_password spam_action wildcard web_prefix web_scheme is_disabled
      require_tls skip_verification force_dkim_authority use_automatic_sender_security message_ttl disabled archive_to
      dkim_host mailfrom_host encrypt_incoming_message tracking_host subaccount_id`),
  },
  webhooks: {
    url: 'url',
    left: words('webhook_id description event_types created_at'),
    format: 'postrider',
    events: ({ event_types }) => (Array.isArray(event_types) ? event_types.map(String) : []),
    types: {
      accepted: ['email.queued'],
      delivered: ['email.delivered'],
      temporary_fail: ['email.delivery_delayed'],
      permanent_fail: ['email.bounced', 'email.failed', 'email.suppressed'],
      complained: ['email.complained'],
    },
  },
};

export const providers: Readonly<Record<ProviderName, Provider>> = { resend, postmark, sendgrid, ses, mailgun };
