/** Returns milliseconds since 1970 by the machine's clock, which the database and all processes share here. */
export function wallTime(): number {
  return Math.round(performance.timeOrigin + performance.now());
}

/** Returns a function that prints lines with the seconds since the start of the run. */
export function createLog(began: number): (line: string) => void {
  return (line) => void process.stdout.write(`${((wallTime() - began) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);
}
