import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { spanMs } from '../../parts/times.tsx';
import { words } from './strings.ts';

export type Quality = NonNullable<Outputs['webhooks']['quality'][number]>;

/** Returns the quality of each endpoint by ID, as far as it is loaded. */
export function useQuality(ids: readonly string[]): ReadonlyMap<string, Quality> {
  const { data = [] } = useQuery(trpc.webhooks.quality.queryOptions({ ids: [...ids] }, { enabled: ids.length > 0 }));
  return new Map(data.flatMap((one) => (one === null ? [] : [[one.webhook_id, one]])));
}

function basis({ attempts, is_limited }: Quality): string {
  return is_limited ? words.quality.limited : words.quality.attempts(attempts);
}

/** Shows the success rate in a list. */
export function SuccessRate({ quality }: { readonly quality: Quality | undefined }) {
  if (quality?.success_rate == null) return <span title={quality && words.quality.none}>–</span>;
  return <span title={basis(quality)}>{words.quality.percent(quality.success_rate)}</span>;
}

/** Shows the p95 response time in a list. */
export function ResponseTime({ quality }: { readonly quality: Quality | undefined }) {
  if (quality?.p95_ms == null) return <span title={quality && words.quality.noResponse}>–</span>;
  return <span title={basis(quality)}>{spanMs(quality.p95_ms)}</span>;
}

/** Says the success rate and the p95 response time in one sentence. */
export function QualityLine({ quality }: { readonly quality: Quality }) {
  const { success_rate, p95_ms } = quality;
  if (success_rate === null) return words.quality.none;
  return (
    <span title={basis(quality)}>
      {words.quality.line(words.quality.percent(success_rate), p95_ms === null ? null : spanMs(p95_ms))}
    </span>
  );
}
