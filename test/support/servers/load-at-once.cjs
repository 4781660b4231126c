// Required before a test's server: the framework and the modules, which it then finds loaded. To import hundreds of modules Node asks its
// thread pool for each; to require them it reads one after the other, which saves a seventh of the processor time of a start.
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  try {
    require('../../../dist/src/app.js');
  } catch {
    // What cannot be loaded here fails again where the server loads it; an older Node requires no ES modules at all.
  }
}
