/** The maximum body size of a request that sends messages: one message with attachments, or a batch. */
export const SEND_BODY_BYTES = 14 * 1024 * 1024;
/** The maximum body size of any other request. */
export const DEFAULT_BODY_BYTES = 100 * 1024;
