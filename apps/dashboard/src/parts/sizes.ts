const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Such as 812 B, 6.7 kB or 1.2 GB. */
export function bytes(count: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(count, 1)) / 3)));
  const size = count / 1000 ** step;
  return `${step > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[step]}`;
}
