/** Optimal string alignment distance. */
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

/** The closest known name, or null. Short names tolerate fewer edits, so that foo does not match to. */
export function likelyMeant(name: string, known: readonly string[]): string | null {
  for (const candidate of known) {
    if (name !== candidate && name.toLowerCase() === candidate.toLowerCase()) return candidate;
    if (Math.abs(candidate.length - name.length) > 2) continue;
    const distance = editDistance(name, candidate);
    if (distance > 0 && distance <= 2 && distance < candidate.length / 2) return candidate;
  }
  return null;
}
