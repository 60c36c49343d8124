export { type DeliveryPump, drainDeliveries, startDeliveryPump } from './delivery/pump.ts';
export { type HoldCache, startHoldCache } from './holds/hold-cache.ts';
export { openWorkerMetrics, type WorkerMetrics } from './metrics/worker-metrics.ts';
export { repeatEvery } from './repeat-task.ts';
export { drainWebhooks, startWebhookPump, type WebhookPump } from './webhooks/webhook-pump.ts';
