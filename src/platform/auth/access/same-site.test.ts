import { describe, expect, test } from '@jest/globals';
import { type BrowserCall, refusalOf } from './same-site.js';

const ALLOWED = new Set(['http://localhost:3000', 'https://console.example']);
const ORIGIN = 'http://localhost:3000';
const ELSEWHERE = /another site/;
const UNSAID = /does not say/;
const NO_ORIGIN = /without an origin/;
const BODY = /neither JSON/;

describe('a call by session', () => {
  test.each<[string, Partial<BrowserCall>, RegExp | undefined]>([
    ['of our own page', { origin: ORIGIN }, undefined],
    ['of a page that may call', { origin: 'https://console.example', fetchSite: 'cross-site' }, undefined],
    ['of an old browser that says nothing but the origin', { origin: ORIGIN, fetchSite: undefined }, undefined],
    ['of a browser that leaves the origin out', { fetchSite: 'same-origin' }, undefined],
    ['behind a proxy that we do not know the address of', { origin: 'https://app.example', fetchSite: 'same-origin' }, undefined],
    ['that says nothing', {}, UNSAID],
    ['of another site', { origin: 'https://evil.example', fetchSite: 'cross-site' }, ELSEWHERE],
    ['of another site in an old browser', { origin: 'https://evil.example' }, ELSEWHERE],
    ['of a neighbour', { origin: 'https://evil.console.example', fetchSite: 'same-site' }, ELSEWHERE],
    ['of another port', { origin: 'http://localhost:3001', fetchSite: 'same-site' }, ELSEWHERE],
    ['of another scheme', { origin: 'https://localhost:3000', fetchSite: 'cross-site' }, ELSEWHERE],
    ['of an origin in another case', { origin: 'HTTP://LOCALHOST:3000' }, ELSEWHERE],
    ['of an origin with a path', { origin: `${ORIGIN}/` }, ELSEWHERE],
    ['of two origins', { origin: `${ORIGIN} https://evil.example` }, ELSEWHERE],
    ['of an empty origin', { origin: '' }, ELSEWHERE],
    ['of a page without an origin', { origin: 'null', fetchSite: 'cross-site' }, NO_ORIGIN],
    ['of a sandboxed page of ours', { origin: 'null', fetchSite: 'same-origin' }, NO_ORIGIN],
    ['typed into the address bar', { fetchSite: 'none' }, UNSAID],
    ['of a neighbour that leaves the origin out', { fetchSite: 'same-site' }, UNSAID],
    ['with JSON', { origin: ORIGIN, hasBody: true, contentType: 'application/json' }, undefined],
    ['with JSON and a charset', { origin: ORIGIN, hasBody: true, contentType: 'Application/JSON; charset=utf-8' }, undefined],
    ['with a kind of JSON', { origin: ORIGIN, hasBody: true, contentType: 'application/merge-patch+json' }, undefined],
    ['with text', { origin: ORIGIN, hasBody: true, contentType: 'text/plain' }, BODY],
    ['with a body of no kind', { origin: ORIGIN, hasBody: true }, BODY],
    ['with a form', { origin: ORIGIN, hasBody: true, contentType: 'application/x-www-form-urlencoded' }, BODY],
    ['with a form where one is taken', { origin: ORIGIN, hasBody: true, contentType: 'application/x-www-form-urlencoded', takesForm: true },
      undefined],
    ['with a file', { origin: ORIGIN, hasBody: true, contentType: 'multipart/form-data; boundary=x', takesForm: true }, BODY],
    ['with JSON from another site', { origin: 'https://evil.example', hasBody: true, contentType: 'application/json' }, ELSEWHERE],
  ])('%s', (_, call, wanted) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refusal = refusalOf({ method, hasBody: false, ...call }, ALLOWED);
      if (wanted === undefined) expect(refusal).toBeUndefined();
      else expect(refusal).toMatch(wanted);
    }
  });

  test.each<[string, Partial<BrowserCall>, RegExp | undefined]>([
    ['GET', {}, undefined],
    ['HEAD', { origin: 'https://evil.example' }, undefined],
    ['GET', { origin: 'null', fetchSite: 'cross-site' }, undefined],
    ['GET', { changes: true }, UNSAID],
    ['GET', { changes: true, fetchSite: 'cross-site' }, UNSAID],
    ['GET', { changes: true, fetchSite: 'none' }, UNSAID],
    ['GET', { changes: true, fetchSite: 'same-origin' }, undefined],
    ['GET', { changes: true, origin: ORIGIN }, undefined],
    ['OPTIONS', {}, UNSAID],
    ['get', {}, UNSAID],
  ])('that reads: %s %j', (method, call, wanted) => {
    const refusal = refusalOf({ method, hasBody: false, ...call }, ALLOWED);
    if (wanted === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toMatch(wanted);
  });
});
