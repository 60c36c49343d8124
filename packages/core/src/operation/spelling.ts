/** Returns the optimal string alignment distance. */
export function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= left.length; row++) {
    const line = [row];
    for (let column = 1; column <= right.length; column++) {
      const above = rows[row - 1] ?? [];
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min((above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + same);
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        best = Math.min(best, (rows[row - 2]?.[column - 2] ?? 0) + 1);
      }
      line.push(best);
    }
    rows.push(line);
  }
  return rows[left.length]?.[right.length] ?? 0;
}

// Known names of at least these lengths are recognized despite one or two edits; shorter ones are too easy to match by
// accident.
const ONE_EDIT_FROM = 5;
const TWO_EDITS_FROM = 7;
const SINGULARS: Readonly<Record<string, string>> = { tag: 'tags', header: 'headers', attachment: 'attachments' };

/** Returns the known name that the given name probably misspells, or null. */
export function likelyMeant(name: string, known: readonly string[]): string | null {
  if (known.includes(name)) return null;
  const plain = plainName(name);
  for (const candidate of known) {
    if (plain === plainName(candidate) || SINGULARS[plain] === candidate) return candidate;
  }
  let best: string | null = null;
  let fewest = 3;
  for (const candidate of known) {
    const tolerated = candidate.length >= TWO_EDITS_FROM ? 2 : candidate.length >= ONE_EDIT_FROM ? 1 : 0;
    if (Math.abs(candidate.length - name.length) > tolerated) continue;
    const distance = editDistance(name, candidate);
    if (distance <= tolerated && distance < fewest) [best, fewest] = [candidate, distance];
  }
  return best;
}

/** Removes differences of style from a name: case, `_` and `-`. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
