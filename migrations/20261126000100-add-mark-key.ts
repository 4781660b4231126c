import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: marks (of repeated calls, forms, slow-downs, what is good once) must stay what they are while ENCRYPTION_KEY is replaced, on two
 * servers of which one has the new key. Their key is the installation's, and stands here sealed. A server fills it in at its start.
 */
export class AddMarkKey20261126000100 extends FirstSchema {
  readonly name = 'AddMarkKey20261126000100';
  protected readonly statements = ['alter table instance add column mark_key bytea'];
}
