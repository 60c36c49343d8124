import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { may, useMe } from '../../api/me.ts';
import { problemOf } from '../../api/problem.ts';
import { client, queries, trpc } from '../../api/trpc.ts';
import { toast } from '../../parts/toasts.tsx';
import { type Domain, failing } from './domain.ts';

/**
 * Polls a domain until it is verified: looks up its records while any of them is wrong and, once all are correct, runs
 * the verification, which is recorded.
 */
export function useDomain(name: string) {
  const me = useMe();
  const options = trpc.domains.get.queryOptions({ domain: name });
  const domain = useQuery(options);
  const unfinished = domain.data !== undefined && failing(domain.data).length > 0;
  const looked = useQuery({
    queryKey: [...trpc.domains.examine.mutationKey(), { input: { domain: name } }],
    queryFn: () => client.domains.examine.mutate({ domain: name }),
    enabled: unfinished,
    retry: false,
  });
  const verify = useMutation(
    trpc.domains.verify.mutationOptions({
      // Until the domain is refetched, its records would still look wrong, and the effect would verify again.
      onSuccess: (checked) => queries.setQueryData(options.queryKey, checked),
      onError: (error) => toast(problemOf(error).message, 'bad'),
    }),
  );
  const { mutate, isPending } = verify;
  const ready = unfinished && looked.data !== undefined && failing(looked.data).length === 0;
  const allowed = may(me, 'domains:write');
  useEffect(() => {
    if (ready && allowed && !isPending) mutate({ domain: name });
  }, [ready, allowed, isPending, mutate, name]);
  const current: Domain | undefined =
    domain.data && unfinished && looked.data ? { ...domain.data, dns_records: looked.data.dns_records } : domain.data;
  return { query: { ...domain, data: current }, verify, live: unfinished };
}
