// npm start: makes ready what is missing, then serves in this very process, so that signals reach the server once
// and its exit code is ours.
import { prepareOrExit } from './prepare.mjs';

// On a database that is there already a start takes a second or two; who has just installed is told why this one takes longer.
if (prepareOrExit()) process.stderr.write('Starting (the first time usually 6 s, since a database is made) …\n');
if (process.env.npm_lifecycle_event === 'start') endWithParent();
await import('../dist/src/main.js');

/** npm signals the shell between us; one that does not pass it on dies alone, and the server would be left behind. */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}
