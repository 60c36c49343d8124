import { z } from 'zod';
import { personEmail } from '../fields/email.ts';
import type { ActorContext, UserActor } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { issueFor } from '../operation/parse-input.ts';

export const emailField = z
  .string()
  .transform((text, context) => {
    const email = personEmail(text);
    if (email !== null) return email;
    context.addIssue(
      issueFor('invalid_email', `${text.slice(0, 80)} is not a valid email address, such as ada@example.com.`),
    );
    return z.NEVER;
  })
  .meta({ examples: ['ada@example.com'] });

/** For the audit log. */
export const reasonField = z.string().max(500).nullish();

export function requirePerson(ctx: ActorContext): UserActor {
  if (ctx.actor.kind === 'user') return ctx.actor;
  throw new AppError('session_ended', 'This endpoint requires a signed-in user. API keys are not accepted.');
}

export function personNotFound(user: string): AppError {
  return new AppError('user_not_found', `No user ${user.slice(0, 80)}.`);
}
