import { z } from 'zod';
import { followChanges } from '../operation/follow-changes.ts';
import { invoke, operation } from '../operation/operation.ts';
import type { DomainEntry } from './domain-entry.ts';
import { domainParameter } from './find-domain.ts';
import { getDomain } from './get-domain.ts';

const POLL_MS = 1000;

/** Streams a domain with its records on every check and change; null as a keep-alive. */
export const followDomain = operation({
  name: 'domains.follow',
  scope: 'domains:read',
  sandbox: true,
  summary: 'Follow a domain while its records are checked',
  input: z.object({ domain: domainParameter }),
  output: z.custom<AsyncGenerator<DomainEntry | null>>(),
  async run(ctx, { domain }) {
    await invoke(ctx, getDomain, { domain });
    return followChanges(() => invoke(ctx, getDomain, { domain }), POLL_MS);
  },
});
