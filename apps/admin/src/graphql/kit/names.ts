type Args = Readonly<Record<string, unknown>>;

/**
 * Converts field names to snake_case. Drops nulls because clients send them for omitted arguments; a parameter of call()
 * lists the fields that a null clears.
 */
export function snakeFields(value: Args): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner == null ? [] : [[snakeCase(name), snakeValue(inner)]])),
  );
}

function snakeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeValue);
  // Input objects have no prototype. JSON values keep their names.
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null)
    return snakeFields(value as Args);
  return value;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
