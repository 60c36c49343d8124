import { z } from 'zod';
import type { ActorContext, UserActor } from '../context.ts';
import { AppError } from '../errors.ts';
import { issueFor } from '../parse-input.ts';
import { personEmail } from './email.ts';

export const emailField = z
  .string()
  .transform((text, context) => {
    const email = personEmail(text);
    if (email !== null) return email;
    context.addIssue(issueFor('invalid_email', `${text.slice(0, 80)} is not one address, as in ada@example.com.`));
    return z.NEVER;
  })
  .meta({ examples: ['ada@example.com'] });

/** Why somebody does this, for the audit log. */
export const reasonField = z.string().max(500).nullish();

export function requirePerson(ctx: ActorContext): UserActor {
  if (ctx.actor.kind === 'user') return ctx.actor;
  throw new AppError('session_ended', 'This is about a person who is signed in; an API key is nobody.');
}

export function personNotFound(who: string): AppError {
  return new AppError('user_not_found', `Nobody is known as ${who.slice(0, 80)}.`);
}
