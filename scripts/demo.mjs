// npm run demo: makes ready what is missing, then runs demo/main.ts in this very process.
import { prepareOrExit } from './prepare.mjs';

prepareOrExit();
const { main } = await import('../dist/demo/main.js');
process.exit(await main(process.argv.slice(2), process.env));
