import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('others', import.meta.dirname);
