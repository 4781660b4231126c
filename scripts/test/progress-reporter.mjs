// What Jest's own reporter says, with the number of each file in the run; and every so often, which files are still under way. Jest wants
// its reporters as a default export.
import { relative } from 'node:path';
import { DefaultReporter } from '@jest/reporters';

const QUIET_MS = 15_000;

export default class ProgressReporter extends DefaultReporter {
  #began = Date.now();
  #done = 0;
  #total = 0;
  #running = new Map();
  #lastWord = Date.now();
  #timer;

  onRunStart(results, options) {
    super.onRunStart(results, options);
    this.#total = results.numTotalTestSuites;
    this.#timer = setInterval(() => this.#sayWhatRuns(), 1_000);
    this.#timer.unref();
  }

  onTestStart(test) {
    super.onTestStart(test);
    this.#running.set(test.path, Date.now());
  }

  onTestResult(test, testResult, results) {
    this.#running.delete(test.path);
    this.#done++;
    super.onTestResult(test, testResult, results);
  }

  onRunComplete() {
    clearInterval(this.#timer);
    super.onRunComplete();
  }

  printTestFileHeader(path, config, result) {
    this.#lastWord = Date.now();
    process.stderr.write(`${this.#position()} `);
    super.printTestFileHeader(path, config, result);
  }

  #sayWhatRuns() {
    if (Date.now() - this.#lastWord < QUIET_MS || this.#running.size === 0) return;
    this.#lastWord = Date.now();
    const files = [...this.#running].map(([path, since]) => `${relative(process.cwd(), path)} (${seconds(since)} s)`);
    this.log(`${this.#position()} under way: ${files.join(', ')}`);
  }

  /** How many files are done, of how many, after how many minutes. */
  #position() {
    const elapsed = seconds(this.#began);
    return `[${this.#done}/${this.#total} ${Math.floor(elapsed / 60)}:${String(elapsed % 60).padStart(2, '0')}]`;
  }
}

const seconds = (since) => Math.round((Date.now() - since) / 1_000);
