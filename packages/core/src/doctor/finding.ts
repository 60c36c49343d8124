/** From best to worst; skipped means that the check does not apply here. */
export const checkupStatuses = ['ok', 'skipped', 'warning', 'failing'] as const;
export type CheckupStatus = (typeof checkupStatuses)[number];

/** The result of a check and, if something is wrong, the fix. */
export interface Finding {
  readonly status: CheckupStatus;
  readonly detail: string;
  readonly fix: string | null;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail, fix: null });
export const skipped = (detail: string): Finding => ({ status: 'skipped', detail, fix: null });
export const warning = (detail: string, fix: string): Finding => ({ status: 'warning', detail, fix });
export const failing = (detail: string, fix: string): Finding => ({ status: 'failing', detail, fix });

const MAX_MS = 5000;

/** Returns the finding of a check, or reports that it timed out or broke: one check never hides another. */
export async function inTime(check: () => Finding | Promise<Finding>, max_ms = MAX_MS): Promise<Finding> {
  const { promise: late_finding, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(
    () =>
      resolve(warning(`No response within ${max_ms / 1000} s.`, 'Run it again. If it keeps failing, check the load.')),
    max_ms,
  );
  try {
    return await Promise.race([Promise.resolve().then(check), late_finding]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failing(`The check itself failed: ${message.slice(0, 200)}.`, 'Run it again and check the log.');
  } finally {
    clearTimeout(timer);
  }
}

export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const;
  for (const [unit, length] of units) if (seconds >= 2 * length) return `${Math.round(seconds / length)} ${unit}`;
  return `${Math.round(seconds)} s`;
}
