import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('posts-to-things', import.meta.dirname);
