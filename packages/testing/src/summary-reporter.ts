import { cpus } from 'node:os';
import type { Reporter, TestModule } from 'vitest/node';

const SLOWEST_FILES = 10;

/** Returns the result of a run. A file that fails to load and an error outside any test count as failures. */
export function summarise(
  modules: readonly Pick<TestModule, 'children' | 'errors'>[],
  stray_error_count: number,
): { passed: number; failed: number } {
  let passed = 0;
  let failed = stray_error_count;
  for (const module of modules) {
    let failed_here = 0;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      if (state === 'failed') failed_here += 1;
    }
    if (failed_here === 0) {
      // These errors include a file that cannot be imported and a hook that throws, at the top level or inside a
      // describe.
      failed_here = module.errors().length > 0 ? 1 : 0;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed_here += 1;
    }
    failed += failed_here;
  }
  return passed + failed === 0 ? { passed, failed: 1 } : { passed, failed };
}

/** Returns the files that took longest, including imports and hooks. */
export function slowestFiles(modules: readonly Pick<TestModule, 'diagnostic' | 'relativeModuleId'>[]): string[] {
  return modules
    .map((module) => {
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      return { path: module.relativeModuleId, seconds: (duration + collectDuration + setupDuration) / 1000 };
    })
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_FILES)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${path}`);
}

/**
 * Returns the CPU time of the whole machine, because Postgres and started processes are not children of this process.
 */
function processorSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}

/**
 * Prints the slowest files and, as the last line of the run, `N passed, N failed`. The reporter waits for the process
 * to exit, because other reporters, coverage and closing servers may print after the run ends.
 */
export default class SummaryReporter implements Reporter {
  #summary = { passed: 0, failed: 1 };
  #slowest_files: readonly string[] = [];

  onInit(): void {
    const started_at = performance.now();
    const processors_at_start = processorSeconds();
    process.once('exit', (code) => {
      const { passed, failed } = this.#summary;
      const seconds = Math.round((performance.now() - started_at) / 1000);
      const processor_seconds = Math.round(processorSeconds() - processors_at_start);
      process.stdout.write(
        [
          'The slowest files:',
          ...this.#slowest_files,
          `took ${seconds} s and ${processor_seconds} processor seconds of this machine`,
          `${passed} passed, ${code === 0 ? failed : Math.max(1, failed)} failed\n`,
        ].join('\n'),
      );
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    this.#summary = summarise(modules, errors.length);
    this.#slowest_files = slowestFiles(modules);
    if (this.#summary.failed > 0) process.exitCode = 1;
  }
}
