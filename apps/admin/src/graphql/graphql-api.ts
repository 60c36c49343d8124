import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '@postrider/core';
import type { QueryRefunds } from '@postrider/core/usage';
import type { Context } from 'hono';
import type { AdminEnv } from '../admin-env.ts';
import { createReply } from './http/reply.ts';
import { createKnownAnswers } from './known/answer-known.ts';
import { KnownQueries } from './known/known-queries.ts';

export interface GraphqlApi {
  readonly reply: (context: Context<AdminEnv>) => Promise<Response>;
  /** Returns false for requests that it leaves to `reply`. */
  readonly answerKnown: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
}

export function createGraphqlApi(services: Services, refunds: QueryRefunds): GraphqlApi {
  const queries = new KnownQueries();
  return {
    reply: createReply(services, refunds, queries),
    answerKnown: createKnownAnswers(services, refunds, queries),
  };
}
