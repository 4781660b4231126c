// npm run build: installs what is missing and builds dist/ if it is not a build of these sources.
import { prepareOrExit } from './prepare.mjs';

prepareOrExit();
