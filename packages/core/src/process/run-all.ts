/** Takes every step in order, those after a failed one too, and throws at the end what failed. */
export async function runAll(what: string, steps: Iterable<() => Promise<unknown>>): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return;
  const messages = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  throw new AggregateError(errors, `${what}: ${messages.join('; ')}`, { cause: errors[0] });
}
