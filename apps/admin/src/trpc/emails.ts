import {
  cancelMessage,
  getContent,
  getMessage,
  giveUpMessage,
  listMessages,
  rescheduleMessage,
  resendMessage,
  retryMessageNow,
  sendMessageNow,
} from '@postrider/core/messages';
import { mutation, query, router } from './kit/invoke-procedure.ts';

export const emails = router({
  list: query(listMessages),
  get: query(getMessage),
  content: query(getContent),
  cancel: mutation(cancelMessage),
  reschedule: mutation(rescheduleMessage),
  resend: mutation(resendMessage),
  sendNow: mutation(sendMessageNow),
  retryNow: mutation(retryMessageNow),
  giveUp: mutation(giveUpMessage),
});
