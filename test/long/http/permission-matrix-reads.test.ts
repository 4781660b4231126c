import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('all', 'reads', { folder: import.meta.dirname });
