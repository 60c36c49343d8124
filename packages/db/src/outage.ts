/** Codes of the drivers, of the network, and SQLSTATEs (class 08, 57P0x, 53300) for a database that is away. */
const AWAY =
  /^(?:CONNECTION_(?:CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|DATABASE_SILENT|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|57P0[1-5]|53300)$/;
/** The words of node-postgres, which has no code for it. */
const AWAY_WORDS = /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout)/;

/** Whether a failure, or what caused it, is that the database could not be reached or ended the connection. */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && AWAY.test(cause.code)) return true;
    if (AWAY_WORDS.test(cause.message)) return true;
  }
  return false;
}
