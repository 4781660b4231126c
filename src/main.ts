// The server. What it needs to run from a bare checkout is made ready by scripts/start.mjs.
import { collectGarbageLessOften } from './start/memory.js';
import { serve } from './start/serve.js';

collectGarbageLessOften();
await serve(process.env);
