import { PageQuery } from '../../../platform/http/fields/pagination.js';

export class SessionListQuery extends PageQuery {}
