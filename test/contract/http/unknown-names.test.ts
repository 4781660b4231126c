import { judgeUnknownNames } from '../../support/routes/judge-unknown-names.js';

// `npm run prove` misspells each name in every way.
judgeUnknownNames('some');
