const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size such as 812 B, 6.7 KiB, or 1.2 GiB. The limits in the settings use the same units. */
export function bytes(count: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(count, 1)) / 10)));
  const size = count / 1024 ** step;
  return `${step > 0 && size < 10 ? size.toFixed(1).replace('.0', '') : Math.round(size)} ${units[step]}`;
}
