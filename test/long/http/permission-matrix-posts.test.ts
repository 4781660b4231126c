import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('all', 'posts', { folder: import.meta.dirname });
