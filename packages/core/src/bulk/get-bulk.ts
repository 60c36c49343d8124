import { z } from 'zod';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField } from '../wire.ts';
import { type BulkEntry, bulkEntry, bulkSchema } from './bulk-entry.ts';
import { requireFound } from './find-bulk.ts';
import { bulkById } from './store.ts';

export const getBulk = operation({
  name: 'bulk.get',
  scope: null,
  summary: 'A bulk operation as it stands',
  input: z.object({ id: idField(idPrefixes.bulk) }),
  output: bulkSchema,
  async run(ctx, { id }): Promise<BulkEntry> {
    return bulkEntry(requireFound(ctx, id, await bulkById(ctx.sql, id)));
  },
});
