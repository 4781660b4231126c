import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPerson, type BuiltPerson, firstOrganization } from '../../support/builders/people.js';
import { columnsWith } from '../../support/erasure/erasures.js';
import { anEraser, type Eraser } from '../../support/erasure/eraser.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let eraser: Eraser;
let root: Client;
let organizationId: string;
let giver: BuiltAgent;
let doer: BuiltAgent;
let person: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  [eraser, organizationId, person] = await Promise.all([anEraser(server.database), firstOrganization(server), aPerson(server, 'admin')]);
  root = asRoot(server);
  [giver, doer] = await Promise.all([anAgent(server).granted('web.search').create(), anAgent(server).granted('web.search').create()]);
});
afterAll(async () => {
  await eraser.close();
  await server.stop();
});

const give = async (about: string, by: Client = giver.client) => (await by.post('/api/v1/routing/delegate', {
  toAgentId: doer.id, task: { capability: 'web.search', input: { about, n: 1 }, description: `Find ${about}` },
})).expect(201).text('task.id');
const execute = (input: object, task_id: string) =>
  doer.client.post('/api/v1/execute', { capability: 'web.search', input, context: { task_id } });
const TABLES = ['tasks', 'routing_decisions', 'node_work', 'secrets'];

describe('a text is erased', () => {
  const about = 'customer-of-tasks@example.org';
  let [done, open, other] = ['', '', ''];

  beforeAll(async () => {
    done = await give(about);
    (await execute({ about, n: 1 }, done)).expect(200);
    [open, other] = [await give(about), await give('nobody in particular')];
    (await giver.client.post('/api/v1/routing/resolve', { capabilities: ['web.search'], description: `Find ${about}` })).expect(200);
    expect(await columnsWith(server, about, TABLES)).toEqual(['routing_decisions.description', 'tasks.description', 'tasks.input']);
    expect((await eraser.erase({ organizationId, texts: [about] })).counts).toMatchObject({ tasks: 2, routingDecisions: 1 });
  });

  test('from tasks and from the routing log', async () => {
    expect(await columnsWith(server, about, TABLES)).toEqual([]);
    expect((await root.get(`/api/v1/tasks/${done}`)).expect(200).at('task'))
      .toMatchObject({ status: 'done', input: { about: '[erased]', n: 1 } });
  });

  test('and what nobody had begun with it is cancelled, in the log too, and off the count of open tasks', async () => {
    expect((await root.get(`/api/v1/tasks/${open}`)).expect(200).at('task')).toMatchObject({ status: 'cancelled', reason: 'erased' });
    expect((await root.get(`/api/v1/tasks/${other}`)).expect(200).at('task')).toMatchObject({ status: 'assigned' });
    expect((await auditOf(server, doer.id)).filter(({ event }) => event === 'task.ended').map(({ metadata }) => metadata))
      .toEqual([{ taskId: open, status: 'cancelled', reason: 'erased' }]);
    expect(await server.sql('select open_tasks as open from audit_heads where chain = $1', [doer.id])).toEqual([{ open: 1 }]);
  });
});

test('who gave tasks and asked for agents is in what is exported of a person', async () => {
  const given = await give('a thing', person.client);
  const asked = (await person.client.post('/api/v1/routing/resolve', { capabilities: ['web.search'] })).expect(200);
  const known = JSON.stringify(await eraser.about(organizationId, person.id));
  expect(known).toContain(given);
  expect(JSON.stringify(asked.body).match(/rte_\w+/g)!.every((id) => known.includes(id))).toBe(true);
});
