import type { Sql } from '@postrider/db';

/** Runs vacuum and checkpoint after bulk changes, before a measurement. */
export async function vacuum(sql: Sql): Promise<void> {
  const connection = await sql.reserve();
  try {
    // A checkpoint on a busy disk takes longer than the product's statement timeout.
    await connection`set statement_timeout = 0`;
    await connection`vacuum analyze`;
    await connection`checkpoint`;
    await connection`reset statement_timeout`;
  } finally {
    connection.release();
  }
}
