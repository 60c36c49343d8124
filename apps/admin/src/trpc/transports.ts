import { testTransport } from '@postrider/core/doctor';
import { getFeedback, removeFeedback, setFeedback } from '@postrider/core/feedback';
import {
  createTransport,
  deleteTransport,
  getTransportHealth,
  getTransportRules,
  listTransports,
  previewRoute,
  setTransportRules,
  updateTransport,
} from '@postrider/core/transports';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const transports = router({
  list: query(listTransports),
  health: query(getTransportHealth),
  create: mutation(createTransport),
  update: mutation(updateTransport),
  delete: mutation(deleteTransport),
  feedback: query(getFeedback),
  setFeedback: mutation(setFeedback),
  removeFeedback: mutation(removeFeedback),
  // A POST, although it changes nothing here: it names an address, which must not appear in a URL.
  test: mutation(testTransport),
  rules: query(getTransportRules),
  setRules: mutation(setTransportRules),
  // A POST, because the rules would make a URL too long.
  preview: mutation(previewRoute),
});
