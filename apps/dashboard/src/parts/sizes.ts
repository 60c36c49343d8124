/** Such as 812 B, 6.7 kB or 1.2 MB. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const [size, unit] = count < 1_000_000 ? [count / 1000, 'kB'] : [count / 1_000_000, 'MB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
