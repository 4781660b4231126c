import { describe, expect, test } from '@jest/globals';
import { lintFiles } from '../../support/running/checkout-fixture.js';

const structure = (files: Readonly<Record<string, string>>) => lintFiles('structure', files);

describe('routes', () => {
  const controller = (decorators: string) => ({
    'src/modules/agents/agents.controller.ts':
      `@Controller('agents')\nexport class AgentsController {\n${decorators}\n  list() { return []; }\n}\n`,
  });

  test('a route without a guard is named', async () => {
    const outcome = await structure(controller(`  @Get()\n  @Replies(200, AgentsReply)`));
    expect(outcome).toEqual({ passed: false, findings: ['src/modules/agents/agents.controller.ts route-declares'] });
  });

  test('a route that does not say what it answers is named', async () => {
    const outcome = await structure(controller(`  @Get()\n  @Access('agents.read')`));
    expect(outcome.findings).toEqual(['src/modules/agents/agents.controller.ts route-declares']);
  });

  test('an empty declaration is none', async () => {
    const outcome = await structure(controller(`  @Delete(':id')\n  @Access()\n  @Replies(204, null)`));
    expect(outcome.findings).toEqual(['src/modules/agents/agents.controller.ts route-declares']);
  });

  test('a route with both passes', async () => {
    const outcome = await structure(controller(`  @Get()\n  @Access('agents.read')\n  @Replies(200, AgentsReply)`));
    expect(outcome).toEqual({ passed: true, findings: [] });
  });
});

describe('database handles', () => {
  const uses = `import { DataSource } from 'typeorm';\nexport const open = (source: DataSource) => source;\n`;

  test('a service that imports the DataSource is named; a store, a query and the database platform are not', async () => {
    const outcome = await structure({
      'src/modules/agents/register-agent.service.ts': uses,
      'src/modules/agents/agent.store.ts': uses,
      'src/modules/agents/agent.query.ts': uses,
      'src/platform/database/transaction/unit-of-work.ts': uses,
    });
    expect(outcome.findings).toEqual(['src/modules/agents/register-agent.service.ts database-access']);
  });

  test('a service that reaches through the transaction is named', async () => {
    const outcome = await structure({
      'src/modules/agents/a.service.ts': 'export const save = (tx: Tx) => tx.manager.save({});\n',
    });
    expect(outcome.findings).toEqual(['src/modules/agents/a.service.ts database-access']);
  });
});

describe('layout', () => {
  const lines = (count: number) => 'export const one = 1;\n'.repeat(count);
  const files = (folder: string, count: number, ending = 'ts') =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/file-${n}.${ending}`, lines(1)]));

  test('a folder of more than fifteen files is named; tests beside the code are not counted', async () => {
    const outcome = await structure({
      ...files('src/domain/full', 15),
      ...files('src/domain/full', 15, 'test.ts'),
      ...files('src/domain/crowded', 16),
      ...files('test/crowded', 16, 'test.ts'),
    });
    expect(outcome.findings).toEqual(['src/domain/crowded small-folders', 'test/crowded small-folders']);
  });

  test('a file of more than 300 lines is named', async () => {
    const outcome = await structure({ 'src/domain/whole.ts': lines(300), 'src/domain/long.ts': lines(301) });
    expect(outcome.findings).toEqual(['src/domain/long.ts short-files']);
  });
});

describe('scope', () => {
  const query = (parameters: string, visibility = '') =>
    ({ 'src/modules/agents/agents.query.ts': `export class AgentsQuery {\n  ${visibility} find(${parameters}) { return []; }\n}\n` });

  test.each([
    ['nothing', query(''), 1],
    ['an id alone', query('id: string'), 1],
    ['a scope, but not first', query('id: string, scope: Scope'), 1],
    ['a scope', query('scope: Scope, id: string'), 0],
    ['a unit of work', query('tx: Tx, id: string'), 0],
    ['somebody whom a look-up by scope has found', query('person: FoundPerson'), 0],
    ['nothing, and only it itself calls it', query('id: string', 'private'), 0],
  ])('a query that takes %s', async (_, files, findings) => {
    const outcome = await structure(files);
    expect(outcome.findings).toEqual(new Array(findings).fill('src/modules/agents/agents.query.ts scoped-queries'));
  });
});

describe('table ownership', () => {
  const sql = (text: string) => `export const run = (tx: Tx) => tx.query(\`${text}\`);\n`;
  // One lint over one store for each statement: the findings tell which of them are wrong.
  const wrongAmong = async (statements: Readonly<Record<string, string>>) => {
    const names = Object.keys(statements);
    const store = (name: string) => `src/modules/hitl/case-${names.indexOf(name)}.store.ts`;
    const outcome = await structure(Object.fromEntries(names.map((name) => [store(name), sql(statements[name] ?? '')])));
    return names.filter((name) => outcome.findings.includes(`${store(name)} table-ownership`));
  };

  test('hitl reads and locks what lies below, reads the platform, writes its own', async () => {
    const wrong = await wrongAmong({
      'reads its own': 'select * from hitl_requests where id = $1',
      'writes its own': 'update hitl_requests set status = $1',
      'joins what lies below': 'select 1 from hitl_requests r join agents a on a.id = r.agent_id, capability_grants g',
      'reads the platform': 'select 1 from audit_heads for no key update',
      'locks what lies below': 'select 1 from agents a for update of a',
      'names a common table expression': 'with due as (select 1 from hitl_requests) select * from due',
      'names a function': 'select * from unnest($1::text[]) as picked(id)',
      'extracts from a column': 'select extract(epoch from created_at) from hitl_requests',
      'reacts to a conflict': 'insert into hitl_requests (id) values (1) on conflict (id) do update set status = 1',
    });
    expect(wrong).toEqual([]);
  });

  test('hitl writes nothing that others own, and names tables in the text', async () => {
    const statements = {
      'writes what lies below': 'update agents set status = $1',
      'writes the platform': 'insert into audit_entries (id) values ($1)',
      'deletes below, in a sub-statement': 'with gone as (delete from capability_grants returning id) select * from gone',
      'inserts below, with a conflict clause': 'insert into agents (id) values (1) on conflict do nothing',
      'empties what lies below': 'truncate agents',
      'puts a name together': 'select * from ${table}',
    };
    expect(await wrongAmong(statements)).toEqual(Object.keys(statements));
  });

  test('a module names nothing above itself, not even in the second place of a list', async () => {
    const path = 'src/modules/agents/agent.query.ts';
    const outcome = await structure({ [path]: sql('select 1 from agents a, hitl_requests r where r.agent_id = a.id') });
    expect(outcome.findings).toEqual([`${path} table-ownership`]);
  });

  test('what a list is read from is read as SQL too', async () => {
    const list = (from: string) => `export const list = { columns: 'a.id', from: '${from}', where: 'true' };\n`;
    const outcome = await structure({
      'src/modules/agents/a.query.ts': list('agents a join capability_grants g on g.agent_id = a.id'),
      'src/modules/agents/b.query.ts': list('agents a join hitl_requests r on r.agent_id = a.id'),
    });
    expect(outcome.findings).toEqual(['src/modules/agents/b.query.ts table-ownership']);
  });

  test('a text that the file itself names is read where it stands', async () => {
    const query = (source: string) => `const SOURCE = '${source}';\n${sql('select 1 from ${SOURCE} where true')}`;
    const outcome = await structure({
      'src/modules/agents/a.query.ts': query('agents a join capability_grants g on g.agent_id = a.id'),
      'src/modules/agents/b.query.ts': query('hitl_requests r join agents a on r.agent_id = a.id'),
    });
    expect(outcome.findings).toEqual(['src/modules/agents/b.query.ts table-ownership']);
  });

  test('functions that write the log are called in one folder, in whatever spelling and version', async () => {
    const calls = [
      'select append_entries_v1($1)', 'select APPEND_ENTRIES_V2 ($1)', 'select public."append_entries_v1"($1)',
      'select append_entries_v${n}($1)',
    ];
    const outcome = await structure({
      ...Object.fromEntries(calls.map((call, n) => [`src/modules/hitl/append-${n}.store.ts`, sql(call)])),
      'src/cli/append.ts': 'export const APPEND = `select append_entries_v1(${P})`;\n',
      'src/platform/http/append.ts': `export const APPEND = 'perform append_entries_v1(null)';\n`,
      'src/modules/audit/erase.store.ts': sql('select erase_disclosures_v1($1)'),
      'src/modules/privacy/sweep.store.ts': sql('select sweep_entries_v1($1), sweep_subjects_v1($2)'),
      'src/platform/database/append.ts': `export const APPEND = 'select append_entries_v1($1)';\n`,
      'src/modules/privacy/erasing.store.ts': sql('select erase_disclosures_v1($1)'),
      'src/modules/audit/retention/retention.store.ts': sql('select sweep_entries_v1($1), sweep_subjects_v1($2)'),
    });
    expect(outcome.findings.toSorted()).toEqual([
      'src/cli/append.ts', 'src/modules/audit/erase.store.ts', ...calls.map((_, n) => `src/modules/hitl/append-${n}.store.ts`),
      'src/modules/privacy/sweep.store.ts', 'src/modules/privacy/sweep.store.ts', 'src/platform/http/append.ts',
    ].map((path) => `${path} table-ownership`));
  });

  test('an entity gives its table to the folder it stands in', async () => {
    const outcome = await structure({
      'src/modules/teams/team.entity.ts': `@Entity('team_things')\nexport class TeamThing {}\n`,
      'src/modules/organizations/organization.query.ts': sql('select 1 from team_things'),
    });
    expect(outcome.findings).toEqual(['src/modules/organizations/organization.query.ts table-ownership']);
  });

  test('a table that nobody owns is named in its migration', async () => {
    const outcome = await structure({ 'migrations/1-create.ts': 'export const up = `create table orphans (id text)`;\n' });
    expect(outcome.findings).toEqual(['migrations/1-create.ts table-ownership']);
  });

  test('prose is not SQL', async () => {
    const outcome = await structure({
      'src/modules/organizations/notes.ts': `export const a = 'Select an agent from agents, or update agents later.';\n`,
    });
    expect(outcome).toEqual({ passed: true, findings: [] });
  });

  test('a store that saves the entity of another module is named', async () => {
    const path = 'src/modules/hitl/hitl.store.ts';
    const outcome = await structure({
      [path]: `import { AgentEntity } from '../agents/agent.entity.js';\nexport const f = (m: M) => m.save(AgentEntity, {});\n`,
    });
    expect(outcome.findings).toEqual([`${path} table-ownership`]);
  });
});

describe('what the framework offers and we refuse', () => {
  test('each is named by its rule', async () => {
    const refused: [rule: string, text: string][] = [
      ['no-forward-ref', `export const later = forwardRef(() => Other);`],
      ['no-request-scope', `@Injectable({ scope: Scope.REQUEST })\nexport class A {}`],
      ['no-bidirectional-relation', `export class A { @OneToMany(() => B, (b) => b.a) bs!: B[]; }`],
      ['no-bidirectional-relation', `export class A { @ManyToOne(() => B, (b) => b.as) b!: B; }`],
      ['no-console', `console.log('here');\nexport {};`],
      ['few-dependencies', `@Injectable()\nexport class A { constructor(a: A, b: B, c: C, d: D, e: E, f: F, g: G) {} }`],
    ];
    const path = (index: number) => `src/modules/agents/case-${index}.service.ts`;
    const outcome = await structure(Object.fromEntries(refused.map(([, text], index) => [path(index), text])));
    expect(outcome.findings).toEqual(refused.map(([rule], index) => `${path(index)} ${rule}`));
  });

  test('a relation one way and a print of the command line pass', async () => {
    const outcome = await structure({
      'src/modules/agents/a.entity.ts': `export class A { @ManyToOne(() => B) b!: B; }`,
      'src/cli/verify.ts': `console.log('verified');\nexport {};`,
    });
    expect(outcome).toEqual({ passed: true, findings: [] });
  });
});

describe('committed text', () => {
  // Put together here, or this file would be found itself.
  const path = ['', 'home', 'someone', 'countersign'].join('/');

  test('an absolute path of somebody\'s machine is named', async () => {
    const outcome = await structure({ 'docs/operations.md': `Start it in ${path}.\n` });
    expect(outcome.findings).toEqual(['docs/operations.md no-machine-paths']);
  });

  test('an address that contains such a word is not', async () => {
    const outcome = await structure({ 'docs/operations.md': `See https://example.org${path} and src/${path.slice(1)}.\n` });
    expect(outcome.findings).toEqual([]);
  });
});
