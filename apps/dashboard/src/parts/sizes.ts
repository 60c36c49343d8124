const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Such as 812 B, 6.7 KiB or 1.2 GiB; the limits of the settings are in these units too. */
export function bytes(count: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(count, 1)) / 10)));
  const size = count / 1024 ** step;
  return `${step > 0 && size < 10 ? size.toFixed(1).replace('.0', '') : Math.round(size)} ${units[step]}`;
}
