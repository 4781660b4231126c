import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: what an organization wants of the scan of its calls to language models, and an index by which their usage is added up: the
 * executions say what was used, so that calls share no counter.
 */
export class CreateLanguageModels20261121001100 extends FirstSchema {
  readonly name = 'CreateLanguageModels20261121001100';
  protected readonly statements = [
    `alter table organizations add column scan_pii text not null default 'optional' check (scan_pii in ('optional', 'required')),
       add column pii json`,
    `create index executions_of_models on executions (organization_id, id) where runtime = 'llm'`,
  ];
}
