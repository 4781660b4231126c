import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../domain/json.js';
import { findEntries, searchEntriesOf } from './search.js';

const schema = (name: string) => ({ content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } });
const operation = (tag: string, operationId: string, summary: string, more: JsonObject = {}): JsonObject =>
  ({ tags: [tag], operationId, summary, ...more });

const DOCUMENT: JsonObject = {
  tags: [{ name: 'Agents' }, { name: 'Execution' }],
  paths: {
    '/internal/v1/tenants': { get: operation('Internal', 'tenantsList', 'List tenants of agents') },
    '/api/v1/execute': { post: operation('Execution', 'gateExecute', 'Execute a governed action', { requestBody: schema('Call') }) },
    '/api/v1/agents/{id}': {
      get: operation('Agents', 'agentsGet', 'One agent', {
        parameters: [{ $ref: '#/components/parameters/Key' }], responses: { 200: schema('Agent') },
      }),
      delete: operation('Agents', 'lifecycleRemove', 'Remove an agent for good', { responses: { 404: schema('Problem') } }),
    },
  },
  components: {
    parameters: { Key: { name: 'Idempotency-Key' } },
    schemas: {
      Call: { properties: { capability: {}, context: { properties: { task_id: {} } } } },
      Agent: { properties: { riskLevel: {}, grants: { items: { $ref: '#/components/schemas/Grant' } } } },
      Grant: { properties: { hitl_mode: {}, agent: { $ref: '#/components/schemas/Agent' } } },
      Problem: { properties: { requestId: {} } },
    },
  },
};
const guide = (path: string, title: string, markdown: string) => ({ path, title, lead: `${title}.`, markdown, html: '' });
const ENTRIES = searchEntriesOf(DOCUMENT, {
  howTo: [guide('/docs/how-to/quorum', 'A quorum', 'several people approve a call to execute')],
  index: guide('/docs/how-to', 'How to', ''), glossary: guide('/docs/glossary', 'Glossary', 'agent: a program that acts'),
});
const foundBy = (query: string) => findEntries(ENTRIES, query).map(({ href }) => href);

test.each<[why: string, query: string, wanted: string[]]>([
  ['a path', '/api/v1/execute', ['/docs#/Execution/gateExecute']],
  ['a path with its parameter as routers write it', 'agents/:id', ['/docs#/Agents/agentsGet', '/docs#/Agents/lifecycleRemove']],
  ['method and word, each of which must be met', 'delete agent', ['/docs#/Agents/lifecycleRemove']],
  ['a title before a text', 'execute', ['/docs#/Execution/gateExecute', '/docs/how-to/quorum']],
  ['words of the page', 'several people', ['/docs/how-to/quorum']],
  ['a member in the other spelling', 'hitlMode', ['/docs#/Agents/agentsGet']],
  ['a parameter that stands elsewhere', 'idempotency', ['/docs#/Agents/agentsGet']],
  ['a member within a member', 'TASK_ID', ['/docs#/Execution/gateExecute']],
  ['a member of a refusal, which is everywhere', 'requestId', []],
  ['the beginning of an operation id', 'tenantsL', ['/docs#/Internal/tenantsList']],
  ['tags of the document before the others', 'agents', [
    '/docs#/Agents/agentsGet', '/docs#/Agents/lifecycleRemove', '/docs#/Internal/tenantsList',
  ]],
  ['nothing', '   ', []],
  ['what is nowhere', 'zebra', []],
  ['characters of patterns', '.*', []],
])('finds %s: %s', (_, query, wanted) => {
  expect(foundBy(query)).toEqual(wanted);
});

test('operations stand in the order of the tags, those without one last', () => {
  const operations = ENTRIES.filter(({ method }) => method !== undefined).map(({ href }) => href);
  expect(operations).toEqual([
    '/docs#/Agents/agentsGet', '/docs#/Agents/lifecycleRemove', '/docs#/Execution/gateExecute', '/docs#/Internal/tenantsList',
  ]);
});

test('a result names the members that were met', () => {
  expect(findEntries(ENTRIES, 'risk').map(({ met }) => met)).toEqual([['riskLevel']]);
});
