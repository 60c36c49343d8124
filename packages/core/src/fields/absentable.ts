import type { z } from 'zod';

/** An optional field for which null means absent, as in the JSON of many languages. */
export function absentable<S extends z.ZodType>(field: S) {
  return field.nullish().transform((given): z.output<S> | undefined => given ?? undefined);
}

/** The same with a value for when it is absent. */
export function absentableOr<S extends z.ZodType, D>(field: S, absent: D) {
  return field
    .nullish()
    .transform((given): z.output<S> | D => given ?? absent)
    .meta({ default: absent });
}
