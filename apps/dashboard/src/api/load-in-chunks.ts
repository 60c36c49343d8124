/** More IDs would make the URL of a request too long. */
const MAX_IDS = 100;

/** Loads something for each ID, in as many requests as needed. */
export async function loadInChunks<T>(
  ids: readonly string[],
  load: (ids: string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const starts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, index) => index * MAX_IDS);
  return (await Promise.all(starts.map((start) => load(ids.slice(start, start + MAX_IDS))))).flat();
}
