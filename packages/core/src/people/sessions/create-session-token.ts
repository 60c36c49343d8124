import { z } from 'zod';
import { scopeField } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { newBearer } from './bearer.ts';
import { insertSessionToken } from './session-store.ts';
import { hashToken } from './token.ts';

const LIFETIME_SECONDS = 15 * 60;

/** Creates a token with which pages without a cookie, such as GraphiQL, can call /v1 and /graphql as the session. */
export const createSessionToken = operation({
  name: 'session.token',
  scope: null,
  summary: 'Create a bearer token for this session and workspace, for /v1 and /graphql, valid for 15 minutes',
  input: z.object({}),
  output: z.object({
    object: objectName('session_token'),
    token: z.string().meta({ description: 'Only returned here. Keep it in memory. It expires with the session.' }),
    scopes: z.array(scopeField).readonly(),
    expires_at: timeField,
  }),
  async run(ctx) {
    const actor = requirePerson(ctx);
    const token = newBearer();
    const expires_at = await ctx.sql.begin(async (tx) => {
      const { session_id, workspace_id, user_id } = actor;
      const until = await insertSessionToken(tx, {
        session_id,
        workspace_id,
        token_hash: hashToken(token),
        seconds: LIFETIME_SECONDS,
      });
      if (!until) throw new AppError('session_ended', 'Your session has ended. Sign in and try again.');
      await recordAudit(tx, ctx, [{ action: 'user.token_made', target_id: user_id, workspace_id: chainOf(actor) }]);
      return until;
    });
    return { object: 'session_token' as const, token, scopes: actor.scopes, expires_at: isoTime(expires_at) };
  },
});
