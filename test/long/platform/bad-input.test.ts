import { judgeBadBodies } from '../../support/routes/judge-bad-bodies.js';

judgeBadBodies({ oneIn: 1 });
