/** A file in a unified diff, and its hunks as lines with their +, - or space prefix. */
export interface PatchedFile {
  readonly path: string;
  readonly hunks: readonly (readonly string[])[];
}

export function readPatch(diff: string): PatchedFile[] {
  return diff
    .trimEnd()
    .split(/^--- a\/.*\n\+\+\+ b\//m)
    .slice(1)
    .map((section) => {
      const [path = '', ...hunks] = section.trimEnd().split(/\n@@.*@@.*\n/);
      return { path, hunks: hunks.map((hunk) => hunk.split('\n')) };
    });
}

/** Returns the text with every hunk applied, or null if a hunk does not fit. */
export function patched(text: string, hunks: PatchedFile['hunks']): string | null {
  let done = '';
  let rest = text;
  for (const lines of hunks) {
    const side = (sign: string) =>
      lines
        .filter((line) => line[0] !== sign)
        .map((line) => `${line.slice(1)}\n`)
        .join('');
    const before = side('+');
    const index = rest.indexOf(before);
    if (index < 0) return null;
    done += rest.slice(0, index) + side('-');
    rest = rest.slice(index + before.length);
  }
  return done + rest;
}
