import { describe, expect, it } from '@jest/globals';
import { Flag, FreeObject, OneOf, Text, TextList, Timestamp } from '../fields/fields.js';
import { decodeCursor, encodeCursor, pageFrom, PageQuery, pageRequest } from '../fields/pagination.js';
import { Problem } from '../reply/problem.js';
import { parseQuery, queryOf, QueryParams, readQuery } from './query-params.js';

class AuditQuery extends PageQuery {
  @Text({ doc: 'Whose.', max: 40, optional: true })
  agentId?: string;

  @Text({ doc: 'What.', max: 40, optional: true, aliases: ['event'] })
  eventType?: string;

  @OneOf(['success', 'failure'], { doc: 'How it ended.', optional: true })
  outcome?: string;

  @Flag({ doc: 'Also the old ones.', optional: true })
  all?: boolean;

  @Timestamp({ doc: 'Until.', optional: true, date: 'end' })
  to?: Date;

  @TextList({ doc: 'Tags.', optional: true, maxItems: 3, maxLength: 5 })
  tags?: string[];
}

class NoteDto {
  @Text({ doc: 'Why.', max: 40, optional: true })
  note?: string;
}

function errorsOf(query: string) {
  try {
    readQuery(AuditQuery, query, { other: { is: 'body', dto: NoteDto } });
  } catch (error) {
    if (error instanceof Problem) return error.extras.errors ?? error.detail;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('readQuery', () => {
  it('takes both spellings, aliases, numbers, flags, lists and dates', () => {
    const query = 'limit=50&agent_id=agt_1&event=a%2Eb+c&outcome=success&all=true&to=2026-11-21&tags=a,b&';
    expect({ ...readQuery(AuditQuery, query) }).toEqual({
      limit: 50, agentId: 'agt_1', eventType: 'a.b c', outcome: 'success', all: true,
      to: new Date('2026-11-21T23:59:59.999Z'), tags: ['a', 'b'],
    });
    expect({ ...readQuery(AuditQuery, 'agentId=agt_1&agent_id=agt_1') }).toEqual({ agentId: 'agt_1' });
    expect({ ...readQuery(AuditQuery, '') }).toEqual({});
  });

  it.each([
    ['limit=501', '?limit', /whole number from 1 to 500/],
    ['limit=0', '?limit', /from 1 to 500/],
    ['limit=', '?limit', /from 1 to 500/],
    ['limit=5e1', '?limit', /from 1 to 500/],
    ['limit=0x10', '?limit', /from 1 to 500/],
    ['limit=1.5', '?limit', /from 1 to 500/],
    ['limit=10&limit=10', '?limit', /twice/],
    ['offset=10001', '?offset', /from 0 to 10000/],
    ['all=yes', '?all', /true or false/],
    ['outcome=maybe', '?outcome', /one of: success, failure/],
    ['agent_id=a&agentId=b', '?agent_id', /something else than agentId/],
    ['event=a&event_type=b', '?event', /something else than event_?[tT]ype/],
    ['agent_id=a%00b', '?agent_id', /NUL/],
    ['to=now', '?to', /date and time/],
    ['tags=a,,b', '?tags', /list of 0 to 3/],
    ['agentid=a', '?agentid', /^is not known here; did you mean agentId\?$/],
    ['evnet_type=a', '?evnet_type', /^is not known here; did you mean eventType\?$/],
    ['per_page=5', '?per_page', /^is not known here; did you mean limit\?$/],
    ['colour=red', '?colour', /^is not known here; known are limit, offset, cursor, agentId, eventType, outcome, all, to, tags$/],
    ['note=a', '?note', /^is a member of the body, not a parameter of the query$/],
    ['=1', '?', /^is not known here/],
    ['__proto__=1', '?__proto__', /^is not known here/],
    ['constructor=1', '?constructor', /^is not known here/],
  ])('refuses %s', (query, pointer, message) => {
    expect(errorsOf(query)).toEqual([{ pointer, message: expect.stringMatching(message) }]);
  });

  it.each(['agent_id=%', 'agent_id=%zz', 'agent_id=%c3%28', 'agent_id=%ed%a0%80', '%ff=1'])('refuses %s', (query) => {
    expect(errorsOf(query)).toBe('The query string is not percent-encoded UTF-8.');
  });

  it('holds names of Object.prototype without harm, and not too many', () => {
    expect(parseQuery('__proto__=1&constructor=2').get('__proto__')).toBe('1');
    expect(readQuery(AuditQuery, '__proto__=1&constructor=2&unknown=%20', { lenient: true })).toEqual(new AuditQuery());
    expect(errorsOf(Array.from({ length: 101 }, (_, i) => `a${i}=1`).join('&'))).toBe('Send at most 100 parameters.');
  });

  it('reads the part of a target after its first question mark', () => {
    expect(queryOf('/a?b=c?d')).toBe('b=c?d');
    expect(queryOf('/a')).toBe('');
  });
});

describe('QueryParams', () => {
  it('refuses a DTO that no text can express, when the route is declared', () => {
    class Bad {
      @FreeObject({ doc: 'Data.' })
      data!: object;
    }
    class Controller {
      list() {}
    }
    expect(() => QueryParams(Bad)(Controller.prototype, 'list', 0)).toThrow('Bad.data cannot stand in a query');
  });
});

describe('pages', () => {
  it('cursors come back as they were', () => {
    for (const key of [['agt_1'], ['2026-11-21T00:00:00.000Z', 'é"\\,']]) {
      expect(encodeCursor(key)).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(decodeCursor(encodeCursor(key), key.length)).toEqual(key);
    }
  });

  it.each([
    '', 'x', '!', 'e30', encodeCursor([]), encodeCursor(['a', 'b']), `${encodeCursor(['a'])}=`, encodeCursor(['a\0']),
    ...['[1]', '["a" ]', '{"0":"a","length":1}'].map((json) => Buffer.from(json).toString('base64url')),
  ])('refuses the cursor "%s"', (cursor) => {
    expect(() => decodeCursor(cursor)).toThrow('nextCursor');
  });

  it('asks by default, by offset or by cursor', () => {
    const cursor = encodeCursor(['agt_1']);
    expect(pageRequest(new PageQuery(), 100)).toEqual({ limit: 100, offset: 0 });
    expect(pageRequest(readQuery(PageQuery, 'limit=5&offset=10'), 100)).toEqual({ limit: 5, offset: 10 });
    expect(pageRequest(readQuery(PageQuery, `cursor=${cursor}`), 100)).toEqual({ limit: 100, offset: 0, after: ['agt_1'] });
    expect(() => pageRequest(readQuery(PageQuery, `cursor=${cursor}&offset=1`), 100)).toThrow('not both');
  });

  it('says that there is more only when there is', () => {
    const rows = ['c', 'b', 'a'].map((id) => ({ id }));
    expect(pageFrom(rows, 3, 3, (row) => [row.id])).toEqual({ rows, total: 3 });
    const page = pageFrom(rows, 9, 2, (row) => [row.id]);
    expect(page.rows).toEqual([{ id: 'c' }, { id: 'b' }]);
    expect(decodeCursor(page.nextCursor!)).toEqual(['b']);
  });
});
