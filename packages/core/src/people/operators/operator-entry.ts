import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import type { OperatorRow } from '../store.ts';

export const operatorSchema = z
  .object({
    object: objectName('operator'),
    id: idField(idPrefixes.user),
    email: z.string(),
    name: z.string().nullable(),
    second_factor: z.boolean().meta({ description: 'Whether signing in takes a code as well.' }),
    created_at: timeField,
  })
  .meta({ id: 'Operator' });
export type OperatorEntry = z.output<typeof operatorSchema>;

export function operatorEntry({ id, email, name, second_factor, created_at }: OperatorRow): OperatorEntry {
  return { object: 'operator', id, email, name, second_factor, created_at: isoTime(created_at) };
}
