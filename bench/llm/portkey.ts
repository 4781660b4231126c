// Portkey's gateway, which passes calls to models on without a scan and without a record; in bench/peers with a lock file of its own.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, NodeProcess } from '../processes.js';

const SCRIPT = join(process.cwd(), 'bench', 'peers', 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
const PATIENCE_MS = 30_000;

export interface Portkey {
  readonly url: string;
  readonly pid: number;
  /** By which a call says where it goes. */
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** @param models the provider's base URL */
export async function startPortkey(models: string, workFolder: string): Promise<Portkey> {
  const port = await freePort();
  const started = NodeProcess.spawn({
    script: SCRIPT, args: ['--headless', `--port=${port}`], flags: ['--max-semi-space-size=32'], logFile: join(workFolder, 'portkey.log'),
    env: { NODE_ENV: 'production' },
  });
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + PATIENCE_MS; ; await delay(100)) {
    if (await fetch(url).then(() => true, () => false)) break;
    if (Date.now() > end) throw new Error('the gateway of Portkey does not answer');
  }
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': models };
  return { url, pid: started.pid, headers, stop: () => started.stop() };
}
