import { builder } from './builder.ts';

/** An enum of the core's values, in upper case. */
export function enumOf<const V extends string>(name: string, values: readonly V[], description?: string) {
  return builder.enumType(name, {
    ...(description !== undefined && { description }),
    values: Object.fromEntries(values.map((value) => [value.toUpperCase(), { value }])) as {
      // The cast holds because fromEntries keeps the names that its type forgets.
      [K in V as Uppercase<K>]: { value: K };
    },
  });
}
