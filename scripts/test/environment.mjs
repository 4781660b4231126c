// Jest's environment of Node, and with it the processes that have run a test's server and can run the next one: they are handed from file
// to file, which each have globals of their own. To load the framework costs ten times what a server's start costs otherwise. So is the
// document that answers are held against.
import { TestEnvironment } from 'jest-environment-node';
import { committedAnswers } from './documented-answers.mjs';

/** How many wait at most, and how often each serves: what a framework keeps of every application is bounded so. */
const IDLE = 4;
const TIMES = 100;
const TAMPERED = /[/\\]faults[/\\](tampering|verification)[/\\]/;

class IdleServers {
  #idle = [];
  #times = new WeakMap();

  /** A process that waits for work, if there is one. */
  take() {
    for (let child = this.#idle.pop(); child; child = this.#idle.pop()) {
      if (child.exitCode !== null || child.signalCode !== null || !child.connected) continue;
      for (const handle of holds(child)) handle.ref();
      return child;
    }
    return undefined;
  }

  giveBack(child) {
    const times = (this.#times.get(child) ?? 0) + 1;
    this.#times.set(child, times);
    // None keeps its worker from ending, and each ends with it.
    for (const handle of holds(child)) handle.unref();
    if (times < TIMES && this.#idle.length < IDLE) this.#idle.push(child);
    else child.disconnect();
  }
}

const holds = (child) => [child, child.channel, child.stdout, child.stderr].filter(Boolean);

const idleServers = new IdleServers();

export default class NodeWithServers extends TestEnvironment {
  constructor(...given) {
    super(...given);
    this.global.idleServers = idleServers;
    // What a tampered database makes a server answer no document has.
    const [, { testPath }] = given;
    if (!TAMPERED.test(testPath)) this.global.documentedAnswers = committedAnswers;
  }
}
