const MAX_NAME_SHOWN = 100;

/** Formats a path in an input as text, such as to[3] or headers.X-Campaign. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = String(part).slice(0, MAX_NAME_SHOWN).toWellFormed();
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
