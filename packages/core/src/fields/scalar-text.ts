import { z } from 'zod';

/** A value of a flat object, read as text: a string, a number or a boolean. */
export const scalarText = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be a string, a number or a boolean' })
  .transform(String);
