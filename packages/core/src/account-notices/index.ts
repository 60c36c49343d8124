export { sendAccountNotice } from './send-account-notice.ts';
