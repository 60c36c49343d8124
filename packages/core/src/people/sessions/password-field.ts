import { z } from 'zod';
import { parseInput } from '../../operation/parse-input.ts';

/** A password that a person chooses. */
export const newPasswordField = z.string().min(10, 'must have at least 10 characters').max(200);

/** Returns a password from a form; throws if it is too short or too long. */
export function chosenPassword(text: string): string {
  const parsed = parseInput(z.object({ new_password: newPasswordField }), { new_password: text });
  if (!parsed.ok) throw parsed.error;
  return parsed.value.new_password;
}
