import { describe, expect, test } from '@jest/globals';
import { covers, type Scope, scopeCondition, scopeOfAgent, scopeOfEverything, scopeOfOrganization, scopeOfOrganizations } from './scope.js';

const columns = { organization: 't.organization_id', agent: 't.agent_id' };

describe('a scope', () => {
  test('is made by its makers alone: anything else does not compile', () => {
    const take = (scope: Scope) => scope.organizations;
    // @ts-expect-error an object of the same shape is no scope
    expect(take({ organizations: 'all' })).toBe('all');
    // @ts-expect-error no scope is no scope
    expect(() => take(undefined)).toThrow(TypeError);
  });

  test.each([
    ['everything', scopeOfEverything(), 'true', []],
    ['an organization', scopeOfOrganization('org_1'), 't.organization_id = ($3)', ['org_1']],
    ['several, home first', scopeOfOrganizations('org_2', ['org_1', 'org_2']), 't.organization_id = any ($3)', [['org_2', 'org_1']]],
    ['an agent', scopeOfAgent('org_1', 'agt_1'), 't.organization_id = ($3) and t.agent_id = $4', ['org_1', 'agt_1']],
  ])('of %s is a condition on the columns', (_, scope, sql, parameters) => {
    expect(scopeCondition(scope, columns, 3)).toEqual({ sql, parameters });
  });

  test('of an agent finds nothing where nothing is an agent\'s', () => {
    expect(scopeCondition(scopeOfAgent('org_1', 'agt_1'), { organization: 'organization_id' }, 1).sql).toBe('false');
  });

  test.each([
    [scopeOfEverything(), { organizationId: 'org_9' }, true],
    [scopeOfOrganization('org_1'), { organizationId: 'org_1', agentId: 'agt_9' }, true],
    [scopeOfOrganization('org_1'), { organizationId: 'org_2' }, false],
    [scopeOfAgent('org_1', 'agt_1'), { organizationId: 'org_1', agentId: 'agt_1' }, true],
    [scopeOfAgent('org_1', 'agt_1'), { organizationId: 'org_1', agentId: 'agt_2' }, false],
    [scopeOfAgent('org_1', 'agt_1'), { organizationId: 'org_1' }, false],
    [scopeOfAgent('org_1', 'agt_1'), { organizationId: 'org_2', agentId: 'agt_1' }, false],
  ])('covers what is its own (%#)', (scope, row, covered) => {
    expect(covers(scope, row)).toBe(covered);
  });
});
