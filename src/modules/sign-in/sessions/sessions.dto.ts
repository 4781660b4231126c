import { PageQuery } from '../../../platform/http/pagination.js';

export class SessionListQuery extends PageQuery {}
