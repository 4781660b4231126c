import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadGenerator, LoadOrder } from './load-generator.js';

/** Whole requests are made once, before the load; each call takes the next. Latencies are in microseconds there. */
const SCRIPT = `
local file, body, requests, at = nil, nil, {}, 0
function init(args)
  file = io.open(args[1], "r")
  body = file:read("*l")
  local more = {}
  for name, value in file:read("*l"):gmatch("(%S+)=(%S+)") do more[name] = value end
  for token in file:lines() do
    local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
    for name, value in pairs(more) do headers[name] = value end
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
  file:close()
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format('RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failed":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

interface Printed {
  requests: number;
  microseconds: number;
  p50: number;
  p99: number;
  failed: number;
}

export function wrk(name: string, workFolder: string): LoadGenerator {
  const script = join(workFolder, 'load.lua');
  let runs = 0;
  writeFileSync(script, SCRIPT);
  return {
    name,
    run: async (order) => {
      // Several may run at once.
      const job = join(workFolder, `load-${runs++ % 16}.txt`);
      const more = Object.entries(order.headers ?? {}).map(([name, value]) => `${name}=${value}`).join(' ');
      writeFileSync(job, [order.body, more, ...order.tokens, ''].join('\n'));
      const { requests, microseconds, p50, p99, failed } = JSON.parse(await printed(order, script, job)) as Printed;
      return { requests, requestsPerSecond: (requests / microseconds) * 1e6, p50: p50 / 1_000, p99: p99 / 1_000, failed };
    },
  };
}

/** One thread: it is far from busy, and a second would hand out its own sequence of callers. */
async function printed({ url, connections, seconds }: LoadOrder, script: string, job: string): Promise<string> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, '--', job];
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((done, failed) => child.once('error', failed).once('close', done));
  const line = /^RESULT (.+)$/m.exec(output)?.[1];
  if (code !== 0 || line === undefined) throw new Error(`wrk ended with ${code}: ${output}`);
  return line;
}
