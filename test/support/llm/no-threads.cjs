// Loaded before a server: no worker thread starts, as where the system has none to give.
require('node:worker_threads').Worker = class Worker {
  constructor() {
    throw new Error('no thread today');
  }
};
require('node:module').syncBuiltinESMExports();
