import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { idPrefixes } from '../ids.ts';
import { idField, timeField } from '../wire.ts';
import type { OperatorRow } from './store.ts';

export const operatorSchema = z
  .object({
    object: z.literal('operator'),
    id: idField(idPrefixes.user),
    email: z.string(),
    created_at: timeField,
  })
  .meta({ id: 'Operator' });
export type OperatorEntry = z.output<typeof operatorSchema>;

export function operatorEntry({ id, email, created_at }: OperatorRow): OperatorEntry {
  return { object: 'operator', id, email, created_at: isoTime(created_at) };
}
