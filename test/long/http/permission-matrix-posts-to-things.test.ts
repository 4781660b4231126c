import { judgePermissionMatrix } from '../../support/routes/permission-matrix.js';

judgePermissionMatrix('all', 'posts-to-things', { folder: import.meta.dirname });
