import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

// With callers of each kind; `npm run prove` takes every role by every credential on every route.
judgePermissionMatrix();
