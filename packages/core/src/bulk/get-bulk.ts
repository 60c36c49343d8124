import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type BulkEntry, bulkEntry, bulkSchema } from './bulk-entry.ts';
import { requireFound } from './find-bulk.ts';
import { bulkById } from './store.ts';

export const getBulk = operation({
  name: 'bulk.get',
  scope: null,
  summary: 'Get a bulk operation',
  input: z.object({ id: idField(idPrefixes.bulk) }),
  output: bulkSchema,
  async run(ctx, { id }): Promise<BulkEntry> {
    return bulkEntry(requireFound(ctx, id, await bulkById(ctx.sql, id)));
  },
});
