import type { Sql } from '@postrider/db';
import type { BenchOptions } from '../options.ts';
import { onBenchServer } from '../product/database.ts';
import { drainProduct } from '../product/delivery-flow.ts';
import { prepareProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { vacuum } from '../product/vacuum.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 10;
const LETTER_BYTES = 4 * 1024;
const EMAILS_PER_SECOND = 1000;
const GOAL_BYTES = 5500;

interface TableSize {
  readonly table: string;
  readonly heap: number;
  readonly indexes: number;
  readonly toast: number;
}

/** Measures the disk space of a 4 kB message once it is delivered, table by table. */
export function benchDisk({ seconds }: BenchOptions): Promise<Report[]> {
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('disk'), KEYS);
    try {
      const empty = new Map((await sizesOf(product.sql)).map((size) => [size.table, size]));
      await drainProduct(product, letter(LETTER_BYTES), seconds * EMAILS_PER_SECOND, 1);
      await vacuum(product.sql);
      const messages = await product.countMessages();
      const grown = (await sizesOf(product.sql))
        .map(({ table, heap, indexes, toast }) => {
          const before = empty.get(table);
          const each = (now: number, previous = 0) => Math.max(0, now - previous) / messages;
          return {
            table,
            heap: each(heap, before?.heap),
            indexes: each(indexes, before?.indexes),
            toast: each(toast, before?.toast),
          };
        })
        .filter(({ heap, indexes, toast }) => heap + indexes + toast >= 1);
      const all = grown.reduce((sum, { heap, indexes, toast }) => sum + heap + indexes + toast, 0);
      return [
        {
          title: `Bytes on disk per delivered 4 kB message (${messages} messages)`,
          lines: [
            ...grown.map(({ table, heap, indexes, toast }) =>
              line('', table, `${heap.toFixed(0)} + ${toast.toFixed(0)} toast + ${indexes.toFixed(0)} indexes`),
            ),
            line('', `total ÷ ${GOAL_BYTES}`, `${all.toFixed(0)} bytes`, [all / GOAL_BYTES], { at_most: 1 }),
          ],
          rounds: null,
        },
      ];
    } finally {
      await product.stop();
    }
  });
}

/** Returns the sizes of tables; partitions are counted toward their table. */
async function sizesOf(sql: Sql): Promise<TableSize[]> {
  return sql<TableSize[]>`
    select coalesce(i.inhparent, c.oid)::regclass::text as table, sum(pg_relation_size(c.oid))::float8 as heap,
      sum(pg_indexes_size(c.oid))::float8 as indexes,
      sum(pg_table_size(c.oid) - pg_relation_size(c.oid))::float8 as toast
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)
    group by 1 order by 1`;
}
