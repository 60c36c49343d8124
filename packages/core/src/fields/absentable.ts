import type { z } from 'zod';

/** A field that may be omitted or null, in which case its value is Absent. */
type Absentable<S extends z.ZodType, Absent> = z.ZodType<
  z.output<S> | Absent,
  z.input<S> | null | undefined,
  z.core.$ZodTypeInternals<z.output<S> | Absent, z.input<S> | null | undefined> & { readonly optin: 'optional' }
>;

// Values are overwritten in place: a transform would run a second schema for each absent field of each message.

/** Makes a field optional, with null meaning absent, as in the JSON of many languages. */
export function absentable<S extends z.ZodType>(field: S): Absentable<S, undefined> {
  const schema = field.nullish().overwrite((value) => value ?? undefined);
  // overwrite() preserves the type, although null can no longer occur.
  return schema as unknown as Absentable<S, undefined>;
}

/** Makes a field optional as absentable does, with a default for when the field is absent. */
export function absentableOr<S extends z.ZodType, D extends z.output<S>>(field: S, absent: D): Absentable<S, D> {
  const schema = field
    .nullable()
    .overwrite((value) => value ?? absent)
    .default(() => absent as z.core.util.NoUndefined<z.output<S>>)
    .meta({ default: absent });
  return schema as unknown as Absentable<S, D>;
}
