import { invoke } from '@postrider/core';
import { createLoginLink, listOperators, resetPassword, resetSignIn } from '@postrider/core/people';
import { Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Machine, withJobs, withMachine } from './machine.ts';

/** Creates a single-use link that signs in an operator. */
export function newLoginLink(terminal: Terminal, email: string | undefined) {
  return withMachine(terminal, async (machine) =>
    invoke(await machine.asWorkspace(), createLoginLink, { email: email ?? (await onlyOperator(machine)) }),
  );
}

export function newPassword(terminal: Terminal, email: string) {
  return withMachine(terminal, async (machine) => {
    const ctx = await machine.asWorkspace();
    return withJobs(ctx, () => invoke(ctx, resetPassword, { email }));
  });
}

/** Removes all that signs a person in, and creates a single-use link. */
export function resetSignInOf(terminal: Terminal, email: string) {
  return withMachine(terminal, async (machine) => {
    const ctx = await machine.asWorkspace();
    return withJobs(ctx, () => invoke(ctx, resetSignIn, { email }));
  });
}

async function onlyOperator(machine: Machine): Promise<string> {
  const { data, has_more } = await invoke(await machine.asWorkspace(), listOperators, { limit: 100 });
  const [first] = data;
  if (first && data.length === 1) return first.email;
  throw new Problem({
    reason: 'missing_option',
    message: `There are ${data.length}${has_more ? ' or more' : ''} operators.`,
    advice: 'Add the operator’s email address to the command.',
  });
}
