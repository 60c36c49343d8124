import { z } from 'zod';
import { issueFor } from '../operation/parse-input.ts';

/** Returns a field for one status or a comma-separated list of known ones, normalized to a fixed order. */
export function statusListOf<S extends string>(states: readonly S[]) {
  const known = states.join(', ');
  return z
    .string()
    .meta({ description: `One or more of these, comma-separated: ${known}.`, examples: [states[0] ?? ''] })
    .transform((text, context): S[] => {
      const parts = text.split(',').map((part) => part.trim());
      const matches = parts.filter((part): part is S => states.some((one) => one === part));
      if (matches.length === parts.length) return [...new Set(matches)].sort();
      context.addIssue(issueFor('invalid_status', `status must be one or a comma list of ${known}.`));
      return z.NEVER;
    });
}
