// The server. What it needs to run from a bare checkout is made ready by scripts/start.mjs.
import { serve } from './start/serve.js';

await serve(process.env);
