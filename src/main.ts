// The server. What it needs to run from a bare checkout is made ready by scripts/start.mjs.
import { lookThroughMemoryLess } from './start/memory.js';
import { serve } from './start/serve.js';

lookThroughMemoryLess();
await serve(process.env);
