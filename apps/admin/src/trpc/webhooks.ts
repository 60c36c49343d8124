import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  getWebhookDelivery,
  listAllDeliveries,
  listWebhookDeliveries,
  listWebhooks,
  previewRecovery,
  readDeliveriesOfEvents,
  readWebhookQuality,
  recoverWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '@postrider/core/webhooks';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const webhooks = router({
  list: query(listWebhooks),
  get: query(getWebhook),
  create: mutation(createWebhook),
  update: mutation(updateWebhook),
  delete: mutation(deleteWebhook),
  test: mutation(testWebhook),
  rotateSecret: mutation(rotateWebhookSecret),
  quality: query(readWebhookQuality),
  recoveryPreview: query(previewRecovery),
  recover: mutation(recoverWebhook),
});

export const deliveries = router({
  list: query(listWebhookDeliveries),
  get: query(getWebhookDelivery),
  listAll: query(listAllDeliveries),
  ofEvents: query(readDeliveriesOfEvents),
  replay: mutation(replayWebhookDelivery),
});
