import { builder } from './builder.ts';

/** Declares an enum with core's values in uppercase. */
export function enumOf<const V extends string>(name: string, values: readonly V[], description: string) {
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values.map((value) => [value.toUpperCase(), { value }])) as {
      // The cast is safe because fromEntries preserves the names that its type loses.
      [K in V as Uppercase<K>]: { value: K };
    },
  });
}
