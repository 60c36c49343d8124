import type { Reporter, TestModule } from 'vitest/node';

/** The result of a run. A file that does not load and an error outside any test count as failures. */
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
      // Covers a file that cannot be imported and a hook that throws, at the top or inside a describe.
      failed_here = module.errors().length > 0 ? 1 : 0;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed_here += 1;
    }
    failed += failed_here;
  }
  return passed + failed === 0 ? { passed, failed: 1 } : { passed, failed };
}

/** Tests that failed at first and passed on a retry. */
export function secondTries(modules: readonly Pick<TestModule, 'children' | 'relativeModuleId'>[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test) =>
      test.result().state === 'passed' && test.diagnostic()?.flaky
        ? [`${module.relativeModuleId} > ${test.fullName}`]
        : [],
    ),
  );
}

/**
 * Prints `N passed, N failed` as the last line of the run, after the tests that needed a retry. It waits for the exit
 * of the process, because other reporters, coverage and the closing of servers may print after the end of the run.
 */
export default class SummaryReporter implements Reporter {
  #summary = { passed: 0, failed: 1 };
  #tried_twice: readonly string[] = [];

  onInit(): void {
    process.once('exit', (code) => {
      const { passed, failed } = this.#summary;
      for (const name of this.#tried_twice) process.stdout.write(`needed a second try: ${name}\n`);
      process.stdout.write(`${passed} passed, ${code === 0 ? failed : Math.max(1, failed)} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    this.#summary = summarise(modules, errors.length);
    this.#tried_twice = secondTries(modules);
    if (this.#summary.failed > 0) process.exitCode = 1;
  }
}
