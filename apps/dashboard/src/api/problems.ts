import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from './trpc.ts';

type Kind = Outputs['overview']['summary']['problems'][number]['kind'];

/** Returns how many resources of a kind need attention, as Overview counts them; undefined until that is known. */
export function useProblemCount(kind: Kind): number | undefined {
  const { data } = useQuery(trpc.overview.summary.queryOptions({}));
  return data?.problems.reduce((sum, one) => (one.kind === kind ? sum + one.count : sum), 0);
}
