import { judgeBadBodies } from '../../support/routes/judge-bad-bodies.js';

// `npm run prove` sends all of them to every route.
judgeBadBodies({ oneIn: 24 });
