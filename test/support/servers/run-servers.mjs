// Runs one server after the other, each as dist/src/main.js would: only the exit at the end of one is a word to the test instead.
// Signals, crashes and a lost test end it like any other process.
import { collectGarbageLessOften } from '../../../dist/src/start/memory.js';
import { serve } from '../../../dist/src/start/serve.js';

const exit = process.exit.bind(process);

process.exit = (code) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  const left = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  // Behind the last of its output, on both streams.
  process.stdout.write('\0', () => process.stderr.write('\0', () => process.send({ exitCode: code, left })));
};
process.on('disconnect', () => exit(0));
process.on('message', ({ env }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  void serve(process.env);
});

collectGarbageLessOften();
