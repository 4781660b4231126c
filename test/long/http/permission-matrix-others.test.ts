import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('all', 'others', { folder: import.meta.dirname });
