import { describe, expect, test } from '@jest/globals';
import { returnPath, SIGN_IN_PATH } from './return-path.js';

describe('the way back', () => {
  test.each([
    '/', '/approvals', '/approvals/hitl_1?tab=context&x=1#votes', '/api/v1/agents', '/docs', '/sign-in?returnTo=/x', '/a//b',
    '/%20', '/internally', '/api/v1/authority', `/${'a'.repeat(1023)}`, "/it's(fine)~-._!*", '/?u=https://evil.example', '/@evil.example',
  ])('%s is taken', (path) => {
    expect(returnPath(path)).toBe(path);
  });

  test.each([
    '', 'approvals', 'https://evil.example', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/a\\b',
    'https:/evil.example', 'https:evil.example', 'javascript:alert(1)', 'data:text/html,x', '/\t/evil.example', '/\n/evil.example',
    '/\r\nSet-Cookie: a=b', '\t//evil.example', ' /x', '/x y', '/.//evil.example', '/..//evil.example', '/./\\evil.example',
    '/\u0000', '/ü', '/\u2028', '/\uff0f/evil.example', '/api/v1/auth/login', '/API/v1/Auth/login', '/api/v1/auth', '/api/v1/./auth/login',
    '/api/v1/x/../auth/login', '/api//v1/auth/login', '/api/v1/%61uth/login', '/api/v1/auth%2Flogin', '/internal/v1/tenants', '/%', '/%ff',
    `/${'a'.repeat(1024)}`, undefined, null, 7, ['/a'], { toString: () => '/a' },
  ])('%j is not', (path) => {
    expect(returnPath(path)).toBe(SIGN_IN_PATH);
  });
});
