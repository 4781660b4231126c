import { Worker } from 'node:worker_threads';
import type { AskedAnchors } from '../anchors/ask-anchors.js';
import type { Verification } from './verification-result.js';

/** What the thread of a verification is given. */
export interface VerificationOrder {
  readonly databaseUrl: string;
  readonly organizations: readonly string[] | 'all';
  readonly agentId: string | undefined;
  /** Base64 of the server's own Ed25519 seed. */
  readonly seed: string;
  readonly anchors: AskedAnchors;
  /** Addresses of the modules that export a record keeper. */
  readonly keepers: readonly string[];
}

/** An error does not keep its code on the way between threads. */
export type VerificationAnswer =
  | { readonly found: Verification }
  | { readonly failed: { readonly message: string; readonly code?: string } };

/** Verifies in a thread of its own, so that no call waits while entries and rows are compared. */
export function verifyInThread(order: VerificationOrder): Promise<Verification> {
  const worker = new Worker(new URL('./verification-thread.js', import.meta.url), { workerData: order });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: VerificationAnswer) => {
      if ('found' in answer) resolve(answer.found);
      else reject(Object.assign(new Error(answer.failed.message), { code: answer.failed.code }));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread of the verification has ended')));
  });
}
