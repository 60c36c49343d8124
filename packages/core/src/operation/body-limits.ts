/** The largest body of a request that sends mail: one message with attachments, or a batch. */
export const SEND_BODY_BYTES = 14 * 1024 * 1024;
/** The largest body of any other request. */
export const DEFAULT_BODY_BYTES = 100 * 1024;
