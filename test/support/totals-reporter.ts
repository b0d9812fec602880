import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints "N passed, N failed" and, if there are any, ", N skipped" as the last line of a test run, after the names of
 * the skipped tests. A file that does not load, a failing hook, an error outside of tests, and an interrupted run are
 * failures too: a run that ends with an error never prints "0 failed".
 */
export default class TotalsReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  readonly #skipped: string[] = [];
  #ended = false;

  onInit(): void {
    // At the end of the process, because other reporters and the teardown may print after the last test.
    process.once('exit', (code) => this.#print(code));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#ended = true;
    this.#failed += unhandledErrors.length;
    for (const module of modules) {
      this.#failed += module.errors().length;
      for (const suite of module.children.allSuites()) this.#failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') this.#passed += 1;
        else if (state === 'skipped') this.#skipped.push(`${module.relativeModuleId} > ${test.fullName}`);
        // A test that is still pending never finished.
        else this.#failed += 1;
      }
    }
  }

  #print(exitCode: number): void {
    if (!this.#ended || (exitCode !== 0 && this.#failed === 0)) this.#failed += 1;
    const skipped = this.#skipped.length;
    const lines = [''];
    if (skipped > 0) lines.push('SKIPPED, not run:', ...this.#skipped.map((name) => `  ${name}`), '');
    lines.push(
      `${this.#passed} passed, ${this.#failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
      '',
    );
    process.stdout.write(lines.join('\n'));
  }
}
