import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly rounds: number;
  /** The duration of a timed part of a round. */
  readonly seconds: number;
  /** The number of seeded messages for read benchmarks. */
  readonly messages: number;
  /** How long after startup to read memory at rest. */
  readonly rest_seconds: number;
  /** Variants to measure, for suites that have them; all if empty. */
  readonly variants: readonly string[];
}

export interface CommandLine extends BenchOptions {
  readonly suites: readonly string[];
  /** A result file to compare with. */
  readonly against: string | null;
  /** A result file to compare instead of running. */
  readonly result: string | null;
  /** Another checkout, measured alternately with this one. */
  readonly pair: string | null;
  /** Show where the time goes instead of measuring. */
  readonly trace: boolean;
}

export function readCommandLine(args: readonly string[]): CommandLine {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: text,
      seconds: text,
      messages: text,
      'rest-seconds': text,
      against: text,
      result: text,
      pair: text,
      trace: { type: 'boolean' },
      variant: { type: 'string', multiple: true },
    },
  });
  const number = (name: 'rounds' | 'seconds' | 'messages' | 'rest-seconds', fallback: number) => {
    const value = Number(values[name] ?? fallback);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number from 1 on`);
    return value;
  };
  return {
    suites: positionals,
    rounds: number('rounds', 3),
    seconds: number('seconds', 4),
    messages: number('messages', 5_000_000),
    rest_seconds: number('rest-seconds', 300),
    variants: values.variant ?? [],
    against: values.against ?? null,
    result: values.result ?? null,
    pair: values.pair ?? null,
    trace: values.trace ?? false,
  };
}
