import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('reads', import.meta.dirname);
