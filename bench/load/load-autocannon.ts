import { fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadGenerator, LoadResult } from './load-generator.js';

const WORKER = fileURLToPath(new URL('./load-autocannon-worker.js', import.meta.url));

export function autocannon(workFolder: string): LoadGenerator {
  const manifest = createRequire(import.meta.url).resolve('autocannon/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const job = join(workFolder, 'load.json');
  return {
    name: `autocannon ${version}`,
    run: (order) => {
      writeFileSync(job, JSON.stringify(order));
      return new Promise<LoadResult>((done, failed) => {
        const worker = fork(WORKER, [job], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
        worker.once('message', (result) => done(result as LoadResult));
        worker.once('exit', (code) => failed(new Error(`autocannon ended with ${code}`)));
      });
    },
  };
}
