import { describe, expect, it } from '@jest/globals';
import { BadRequestException, HttpException, InternalServerErrorException, NotFoundException } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { constraintProblems, isConnectionError, isPassing, problemFrom } from './failure.js';
import { Problem } from './problem.js';

const driver = (code: string, more: object = {}) => Object.assign(new Error('secret SQL text'), { code, ...more });
const failed = (code: string, more: object = {}) => new QueryFailedError('select secret', [], driver(code, more));

describe('problemFrom', () => {
  constraintProblems.set('agents_name_once', { code: 'CONFLICT', detail: 'Another agent has this name.' });

  it.each([
    ['a problem', new Problem('STOPPED', 'Stopped.'), 'STOPPED', 'Stopped.'],
    ['a named constraint', failed('23505', { constraint: 'agents_name_once' }), 'CONFLICT', 'Another agent has this name.'],
    ['one from the driver', driver('23505', { constraint: 'agents_name_once' }), 'CONFLICT', 'Another agent has this name.'],
    ['an unknown constraint', failed('23505', { constraint: 'secret' }), 'INTERNAL', undefined],
    ['a constraint’s name on another error', failed('42601', { constraint: 'agents_name_once' }), 'INTERNAL', undefined],
    ['a syntax error of ours', failed('42601'), 'INTERNAL', undefined],
    ['a statement timeout', failed('57014'), 'UNAVAILABLE', /too long for a statement/],
    ['a lock timeout', failed('55P03'), 'UNAVAILABLE', /holds a lock/],
    ['a deadlock beyond the retries', failed('40P01'), 'UNAVAILABLE', /holds a lock/],
    ['a standby', failed('25006'), 'UNAVAILABLE', 'The database cannot write: it is read-only.'],
    ['an unknown path', new NotFoundException('Cannot GET /secret'), 'NOT_FOUND', /documentation/],
    ['a bad request of Nest', new BadRequestException('secret'), 'VALIDATION_FAILED', /percent-encoded/],
    ['a teapot', new HttpException('secret', 418), 'VALIDATION_FAILED', /cannot be read/],
    ['a server error of Nest', new InternalServerErrorException('secret'), 'INTERNAL', /wrong on our side/],
    ['a malformed address', new URIError('secret'), 'VALIDATION_FAILED', /percent-encoded/],
    ['an error of Express', Object.assign(new Error('secret'), { status: 413 }), 'BODY_TOO_LARGE', /too large/],
    ['a bug', new TypeError('secret'), 'INTERNAL', undefined],
    ['a thrown text', 'secret', 'INTERNAL', undefined],
    ['nothing', undefined, 'INTERNAL', undefined],
  ])('%s', (_what, error, code, detail) => {
    const problem = problemFrom(error);
    expect(problem.code).toBe(code);
    if (detail instanceof RegExp) expect(problem.detail).toMatch(detail);
    else expect(problem.detail).toBe(detail);
    expect(JSON.stringify([problem.detail, problem.extras])).not.toContain('secret');
  });
});

describe('isConnectionError', () => {
  it.each([
    ['a refused connection', driver('ECONNREFUSED')],
    ['a refused connection to each of two addresses', new AggregateError([driver('ECONNREFUSED'), driver('ECONNREFUSED')])],
    ['a reset', failed('ECONNRESET')],
    ['an administrator’s shutdown', failed('57P01')],
    ['a transaction ended for its silence', failed('25P03')],
    ['a starting database', driver('57P03')],
    ['class 08', failed('08006')],
    ['too many connections', driver('53300')],
    ['pg’s words', new Error('Connection terminated unexpectedly')],
    ['TypeORM’s words', new Error('Query runner already released. Cannot run queries anymore.')],
    ['the pool’s words', new Error('timeout exceeded when trying to connect')],
    ['a cause', new Error('outer', { cause: driver('ECONNREFUSED') })],
  ])('%s', (_what, error) => {
    expect(isConnectionError(error)).toBe(true);
    expect(problemFrom(error).code).toBe('UNAVAILABLE');
  });

  it.each([
    ['a cancelled statement, though it passes', driver('57014'), true],
    ['a unique violation', failed('23505'), false],
    ['a bug', new TypeError('x'), false],
    ['a text', 'ECONNREFUSED', false],
    ['null', null, false],
  ])('not %s', (_what, error, passing) => {
    expect(isConnectionError(error)).toBe(false);
    expect(isPassing(error)).toBe(passing);
  });

  it('ends on errors that contain themselves', () => {
    const circular = new Error('x');
    circular.cause = circular;
    expect(isConnectionError(circular)).toBe(false);
  });
});
