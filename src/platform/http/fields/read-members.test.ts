import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../domain/json.js';
import {
  Decimal, Flag, FreeObject, FreeValue, Integer, Nested, NestedList, NotYet, OneOf, Text, TextList, Timestamp,
} from './fields.js';
import { fieldsOf, type DtoClass } from './field-spec.js';
import { Problem } from '../reply/problem.js';
import { readBody } from './read-members.js';
import { parseStrictJson } from '../request/strict-json.js';

class GrantDto {
  @Text({ doc: 'Its name.', min: 1, max: 20 })
  capability!: string;

  @OneOf(['auto', 'block'], { doc: 'Its mode.', optional: true })
  hitlMode?: string;

  @Integer({ doc: 'Seconds.', min: 1, max: 60, optional: true })
  hitlTimeoutSeconds?: number;
}

class AgentDto {
  @Text({ doc: 'A name.', min: 1, max: 5, singleLine: true })
  name!: string;

  @Text({ doc: 'A note.', max: 10, optional: true, aliases: ['comment', 'reason_text'] })
  note?: string;

  @Text({ doc: 'May be cleared.', max: 10, optional: true, clearable: true })
  description?: string | null;

  @Text({ doc: 'Null is as good as nothing.', max: 10, nullable: true })
  teamId?: string;

  @Text({ doc: 'A code.', max: 10, pattern: /^[a-z]+$/, patternMeans: 'lower-case letters', optional: true })
  code?: string;

  @Flag({ doc: 'A switch.', optional: true })
  dryRun?: boolean;

  @Decimal({ doc: 'A share.', min: 0, max: 1, optional: true })
  share?: number;

  @Timestamp({ doc: 'A bound.', optional: true, date: 'end' })
  until?: Date;

  @TextList({ doc: 'Tags.', maxItems: 2, maxLength: 3, optional: true })
  tags?: string[];

  @FreeObject({ doc: 'Data.', optional: true, aliases: ['payload'], maxDepth: 3 })
  input?: object;

  @FreeValue({ doc: 'Whatever came of it.', optional: true })
  output?: JsonValue;

  @Nested(() => GrantDto, { doc: 'One grant.', optional: true })
  grant?: GrantDto;

  @NestedList(() => GrantDto, { doc: 'Grants.', maxItems: 2, optional: true })
  grants?: GrantDto[];

  @NotYet('there are no quotas')
  quota?: number;
}

function refusal(read: () => unknown): Problem {
  try {
    read();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

class WaitQuery {
  @Integer({ doc: 'Seconds.', min: 0, max: 5, optional: true })
  wait?: number;
}

const other = { is: 'query', dto: WaitQuery } as const;
const errorsOf = (body: JsonValue, dto: DtoClass = AgentDto) => refusal(() => readBody(dto, body, { other })).extras.errors;

describe('readBody reads a member', () => {
  it.each([
    ['in camelCase', { name: 'a', teamId: 'team_1', dryRun: true }],
    ['in snake_case', { name: 'a', team_id: 'team_1', dry_run: true }],
    ['in both, when they agree', { name: 'a', teamId: 'team_1', team_id: 'team_1', dryRun: true, dry_run: true }],
  ])('%s', (_how, body) => {
    expect({ ...readBody(AgentDto, body as never) }).toEqual({ name: 'a', teamId: 'team_1', dryRun: true });
  });

  it.each(['note', 'comment', 'reason_text', 'reasonText'])('by the name %s', (name) => {
    expect(readBody(AgentDto, { name: 'a', [name]: 'x' }).note).toBe('x');
  });

  it('by two names with equal objects, and keeps the object itself', () => {
    const input = { a: [1, { b: 2 }] };
    expect(readBody(AgentDto, { name: 'a', input, payload: { a: [1, { b: 2 }] } }).input).toBe(input);
  });

  it('and ignores what it does not know, at any depth, where lenience is asked for', () => {
    const grants = [{ capability: 'x', extra: 1 }];
    const body = { name: 'a', status: 'active', tenant_id: 'x', constructor: 1, toString: 2, grants };
    const read = readBody(AgentDto, body as never, { lenient: true });
    expect(Object.keys(read)).toEqual(['name', 'grants']);
    expect({ ...read.grants?.[0] }).toEqual({ capability: 'x' });
    expect(read).toBeInstanceOf(AgentDto);
  });

  it('free of its own making exactly as the strict reader gave it', () => {
    const text = '{"name":"a","input":{"constructor":{"prototype":1},"toString":"x","hasOwnProperty":[{"valueOf":2}]}}';
    const parsed = parseStrictJson(Buffer.from(text));
    if (!parsed.ok) throw new Error(parsed.message);
    const { input } = readBody(AgentDto, parsed.value);
    expect(input).toBe((parsed.value as { input: object }).input);
    expect(JSON.stringify({ name: 'a', input })).toBe(text);
  });

  it('as a date', () => {
    expect(readBody(AgentDto, { name: 'a', until: '2026-11-21T10:00:00+01:00' }).until).toEqual(new Date('2026-11-21T09:00:00Z'));
    expect(readBody(AgentDto, { name: 'a', until: '2026-11-21' }).until).toEqual(new Date('2026-11-21T23:59:59.999Z'));
  });

  it('as nested DTOs', () => {
    const read = readBody(AgentDto, {
      name: 'a', grant: { capability: 'x' }, grants: [{ capability: 'y', hitl_mode: 'auto' }],
    });
    expect(read.grant).toBeInstanceOf(GrantDto);
    expect({ ...read.grant }).toEqual({ capability: 'x' });
    expect({ ...read.grants?.[0] }).toEqual({ capability: 'y', hitlMode: 'auto' });
  });

  it('null: as a value where it clears, as nothing where it may', () => {
    const read = readBody(AgentDto, { name: 'a', description: null, teamId: null, output: 0 });
    expect({ ...read }).toEqual({ name: 'a', description: null, output: 0 });
    expect('teamId' in read).toBe(false);
  });

  it('counts characters, not units', () => {
    expect(readBody(AgentDto, { name: '😀😀😀😀😀' }).name).toHaveLength(10);
  });

  it('inherited by a DTO', () => {
    class Wider extends GrantDto {
      @Flag({ doc: 'More.', optional: true })
      more?: boolean;
    }
    expect({ ...readBody(Wider, { capability: 'x', more: true }) }).toEqual({ capability: 'x', more: true });
    expect(fieldsOf(GrantDto).map(({ property }) => property)).not.toContain('more');
  });
});

describe('readBody refuses', () => {
  const name = 'a';
  const cases: [what: string, body: JsonValue, pointer: string, message: RegExp][] = [
    ['a list', [], '', /a JSON object/],
    ['a text', 'x', '', /a JSON object/],
    ['null', null, '', /a JSON object/],
    ['nothing where something is required', {}, '/name', /^is required: it must be a string of 1 to 5 characters/],
    ['an empty text', { name: '' }, '/name', /^must be a string of 1 to 5 characters/],
    ['white space', { name: ' \n ' }, '/name', /1 to 5/],
    ['a text that is too long', { name: 'abcdef' }, '/name', /1 to 5/],
    ['six astral characters', { name: '😀😀😀😀😀😀' }, '/name', /1 to 5/],
    ['a line break in a line', { name: 'a\nb' }, '/name', /line breaks/],
    ['another type', { name: 5 }, '/name', /string/],
    ['a list where a text is wanted', { name: ['a'] }, '/name', /string/],
    ['null', { name: null }, '/name', /string/],
    ['null for an optional member', { name, note: null }, '/note', /string/],
    ['a form', { name, code: 'A1' }, '/code', /^must be lower-case letters$/],
    ['a number as text', { name, grant: { capability: 'x', hitl_timeout_seconds: '5' } }, '/grant/hitl_timeout_seconds', /to 60/],
    ['a fraction', { name, grant: { capability: 'x', hitlTimeoutSeconds: 1.5 } }, '/grant/hitlTimeoutSeconds', /whole number/],
    ['a number out of range', { name, share: 1.1 }, '/share', /^must be a number from 0 to 1$/],
    ['a flag as text', { name, dry_run: 'true' }, '/dry_run', /^must be true or false$/],
    ['another word', { name, grant: { capability: 'x', hitl_mode: 'no' } }, '/grant/hitl_mode', /^must be one of: auto, block$/],
    ['a word of Object.prototype', { name, grant: { capability: 'x', hitl_mode: 'constructor' } }, '/grant/hitl_mode', /one of/],
    ['a date that is not one', { name, until: 'tomorrow' }, '/until', /date and time with its zone/],
    ['too many items', { name, tags: ['a', 'b', 'c'] }, '/tags', /list of 0 to 2 items/],
    ['an item of another type', { name, tags: [1] }, '/tags', /list of 0 to 2 items/],
    ['a free object that is a list', { name, payload: [] }, '/payload', /object of at most 3 levels/],
    ['a free object that is too deep', { name, input: { a: { b: { c: {} } } } }, '/input', /at most 3 levels/],
    ['a missing nested member', { name, grants: [{ capability: 'x' }, {}] }, '/grants/1/capability', /is required/],
    ['a nested item of another type', { name, grants: [1] }, '/grants', /list of 0 to 2 objects/],
    ['an alias with a wrong value, by that name', { name, reason_text: 5 }, '/reason_text', /string/],
    ['two spellings that differ', { name, teamId: 'a', team_id: 'b' }, '/team_id', /something else than teamId/],
    ['two aliases that differ', { name, note: 'a', comment: 'b' }, '/comment', /something else than note/],
    ['two objects that differ', { name, input: { a: 1 }, payload: { a: 2 } }, '/payload', /something else than input/],
    ['a value beside null', { name, team_id: null, teamId: 'a' }, '/team_id', /something else than teamId/],
    ['what nothing obeys yet', { name, quota: 1 }, '/quota', /not supported yet; leave it out \(there are no quotas\)/],
    ['what nothing obeys yet, even as null', { name, quota: null }, '/quota', /not supported yet/],
    ['a misspelt member', { name, dryrun: true }, '/dryrun', /^is not known here; did you mean dryRun\?$/],
    ['a misspelt alias, by the documented name', { name, comnent: 'a' }, '/comnent', /did you mean note\?$/],
    ['a word of other interfaces', { name, params: {} }, '/params', /did you mean input\?$/],
    ['a part of a name', { name, grants: [{ capability: 'x', mode: 'block' }] }, '/grants/0/mode', /did you mean hitlMode\?$/],
    ['a misspelt required member, once', { nmae: 'a' }, '/nmae', /did you mean name\?$/],
    ['an unknown member of a nested object', { name, grant: { capability: 'x', colour: 1 } }, '/grant/colour',
      /^is not known here; known are capability, hitlMode, hitlTimeoutSeconds$/],
    ['a name of Object.prototype', { name, constructor: 1 }, '/constructor', /^is not known here; known are /],
    ['what nothing obeys yet, misspelt', { name, quotaa: 1 }, '/quotaa', /^is not known here; known are (?!.*quota)/],
    ['a parameter of the query', { name, wait: 5 }, '/wait', /^is a parameter of the query, not a member of the body$/],
    ['a name that needs escaping', { name, 'a/b~c': 1 }, '/a~1b~0c', /^is not known here/],
  ];
  it.each(cases)('%s', (_what, body, pointer, message) => {
    expect(errorsOf(body)).toEqual([{ pointer, message: expect.stringMatching(message) }]);
  });

  it('all faults at once, and says how many', () => {
    const problem = refusal(() => readBody(AgentDto, { note: 5, grants: [{}, { capability: '', hitl_mode: 1 }] }));
    expect(problem.code).toBe('VALIDATION_FAILED');
    expect(problem.detail).toBe('5 members are not as they must be; errors names them.');
    expect(problem.extras.errors?.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/grants/0/capability', '/grants/1/capability', '/grants/1/hitl_mode', '/name', '/note',
    ]);
  });

  it('with a detail that is a sentence', () => {
    expect(refusal(() => readBody(AgentDto, { name: 5 })).detail).toMatch(/^\/name must be a string of 1 to 5 .*\.$/);
  });

  it('with the name that was meant, as a question', () => {
    expect(refusal(() => readBody(AgentDto, { name: 'a', dryrun: true })).detail).toBe('/dryrun is not known here; did you mean dryRun?');
  });

  it('long and many unknown names, in an answer that can be read', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`x${i}`, 1]));
    expect(errorsOf({ name: 'a', ...many })).toHaveLength(50);
    const [error] = errorsOf({ name: 'a', ['😀'.repeat(50_000)]: 1 })!;
    expect(error!.pointer).toBe(`/${'😀'.repeat(50)}…`);
  });

  it('no more than fifty faults', () => {
    class Many {
      @NestedList(() => GrantDto, { doc: 'Many.', maxItems: 1_000 })
      grants!: GrantDto[];
    }
    const many = Array.from({ length: 200 }, () => ({}));
    expect(errorsOf({ grants: many }, Many)).toHaveLength(50);
  });
});

describe('fieldsOf', () => {
  it('refuses a class in which one name would mean two members', () => {
    class Ambiguous {
      @Text({ doc: 'One.', max: 5, aliases: ['other_name'] })
      one!: string;

      @Text({ doc: 'Another.', max: 5 })
      otherName!: string;
    }
    expect(() => fieldsOf(Ambiguous)).toThrow('Ambiguous: "otherName" would mean one and otherName');
  });
});
