import { judgeUnknownNames } from '../../support/routes/judge-unknown-names.js';

judgeUnknownNames('all');
