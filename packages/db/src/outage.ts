/** Driver codes, network codes and SQLSTATEs (class 08, 57P0x, 53300) that mean the database is unavailable. */
const AWAY =
  /^(?:CONNECTION_(?:CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|DATABASE_SILENT|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08...|57P0[1-5]|53300)$/;
/** Error messages from node-postgres, which sets no error code in these cases. */
const AWAY_WORDS = /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout)/;

/** Returns whether an error or one of its causes means that the database was unreachable or closed the connection. */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && AWAY.test(cause.code)) return true;
    if (AWAY_WORDS.test(cause.message)) return true;
  }
  return false;
}
