import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('posts', import.meta.dirname);
