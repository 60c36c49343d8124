/** Parses one search parameter. Returns undefined if it is invalid. */
type Reader<T> = (value: unknown) => T | undefined;

type Search<S extends Readonly<Record<string, Reader<unknown>>>> = {
  readonly [Name in keyof S]?: Exclude<ReturnType<S[Name]>, undefined>;
};

export const text: Reader<string> = (value) => (typeof value === 'string' && value !== '' ? value : undefined);
export const flag: Reader<true> = (value) => (value === true ? value : undefined);
/** A time in any format that the browser reads. */
export const time: Reader<string> = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined;
export const number: Reader<number> = (value) => (typeof value === 'number' ? value : undefined);

export function oneOf<const T extends string>(...names: readonly T[]): Reader<T> {
  return (value) => names.find((name) => name === value);
}

/**
 * Returns a validator for a route's search parameters. Invalid values are dropped because a link may be old. Does not
 * use zod: its `catch` accepts unknown, so links would lose their types.
 */
export function searchOf<S extends Readonly<Record<string, Reader<unknown>>>>(schema: S) {
  return (params: Record<string, unknown>): Search<S> => {
    const read = Object.entries(schema).map(([name, reader]) => [name, reader(params[name])] as const);
    // Each value was returned by the reader of the same name.
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Search<S>;
  };
}
