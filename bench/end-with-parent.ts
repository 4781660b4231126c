// Preloaded into each server (`node --import`): when the benchmark is killed, what it started ends too.
process.once('disconnect', () => process.exit(1));
