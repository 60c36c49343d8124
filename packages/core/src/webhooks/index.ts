export { egressOf } from '../process/egress.ts';
export { deliveryNotFound, type WebhookDeliveryEntry } from './deliveries/delivery-entry.ts';
export type { WebhookPost } from './deliveries/delivery-posts.ts';
export { type ClaimQuota, WEBHOOK_LEASE_SECONDS } from './deliveries/delivery-store.ts';
export { forgetDeliveries } from './deliveries/forget-deliveries.ts';
export { getWebhookDelivery, readWebhookPosts } from './deliveries/get-delivery.ts';
export { giveUpDeliveries } from './deliveries/give-up-open.ts';
export { isHeld as isWebhookHeld } from './deliveries/held-store.ts';
export { deliveryStatusField, listAllDeliveries, listWebhookDeliveries } from './deliveries/list-deliveries.ts';
export { oweRange } from './deliveries/owe-range.ts';
export { reconcileWebhooks } from './deliveries/reconcile-calls.ts';
export { replayWebhookDelivery } from './deliveries/replay-delivery.ts';
export { deliveriesAmong, replayRows } from './deliveries/replay-store.ts';
export type { WebhookDeliveryState } from './deliveries/state.ts';
export { webhookDeliveryStates } from './deliveries/state.ts';
export { type DeliveryWaiting, deliveryWaitingReasons } from './deliveries/waiting.ts';
export { createWebhook } from './endpoints/create-webhook.ts';
export { deleteWebhook } from './endpoints/delete-webhook.ts';
export { FAILING_SECONDS, isFailing } from './endpoints/failing-store.ts';
export { resendNames, type WebhookFormat, webhookFormats } from './endpoints/format.ts';
export { getWebhook } from './endpoints/get-webhook.ts';
export { listWebhooks } from './endpoints/list-webhooks.ts';
export { previewRecovery } from './endpoints/preview-recovery.ts';
export { readWebhookQuality, type WebhookQuality } from './endpoints/read-quality.ts';
export {
  readDeliveriesOfEvents,
  readDeliveryBodies,
  readWebhookDeliveries,
  readWebhooks,
} from './endpoints/read-webhooks.ts';
export { recoverWebhook } from './endpoints/recover-webhook.ts';
export { requireEnabled } from './endpoints/require-enabled.ts';
export { rotateWebhookSecret } from './endpoints/rotate-secret.ts';
export { webhookStatuses } from './endpoints/status.ts';
export { switchedOff, webhookById } from './endpoints/store.ts';
export { testWebhook } from './endpoints/test-webhook.ts';
export { unopenedSecrets } from './endpoints/unopened-secrets.ts';
export { updateWebhook } from './endpoints/update-webhook.ts';
export { requirePublic, urlFieldNamed } from './endpoints/url-field.ts';
export { type WebhookEntry, webhookNotFound } from './endpoints/webhook-entry.ts';
export { type EndpointLease, renewLeaseRows as renewEndpointLeases } from './posting/lease-store.ts';
export { takeEndpointLeases } from './posting/leases.ts';
export { type ClaimedPost, claimPosts, type SettledPost, sendPost, settlePosts } from './posting/post.ts';
export { resendDomainStatus, resendOrigin, resendTag } from './posting/resend-body.ts';
export { sendDeliver } from './posting/send-deliver.ts';
export {
  createSigner,
  encryptSecret,
  newWebhookSecret,
  openSecret,
  type Signer,
  webhookPurpose,
} from './posting/signing.ts';
