/** Runs all steps concurrently and throws any failures at the end. */
export async function runTogether(label: string, steps: Iterable<() => Promise<unknown>>): Promise<void> {
  const settled = await Promise.allSettled([...steps].map((step) => step()));
  await runAll(
    label,
    settled.map((one) => async () => {
      if (one.status === 'rejected') throw one.reason;
    }),
  );
}

/** Runs every step in order, even after a failure, and throws any failures at the end. */
export async function runAll(label: string, steps: Iterable<() => Promise<unknown>>): Promise<void> {
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
  throw new AggregateError(errors, `${label}: ${messages.join('; ')}`, { cause: errors[0] });
}
