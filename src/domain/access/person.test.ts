import { describe, expect, test } from '@jest/globals';
import { newId } from '../ids.js';
import { namesAccount } from './person.js';

describe('what names an account', () => {
  test.each([newId('usr'), 'ada@example.com', 'ADA@EXAMPLE.COM', 'a.b+c@x.co'])('%s', (text) => {
    expect(namesAccount(text)).toBe(true);
  });

  test.each([
    '', ' ', 'ada', newId('agt'), 'Ada <ada@example.com>', 'mailto:ada@example.com', '"ada@example.com"',
    'ada@example.com, bob@example.com', 'ada@example.com\u200b', 'ada\uff20example.com', 'ada@example.com.', ' ada@example.com',
    'ada@ex\u00e4mple.com', `${'a'.repeat(250)}@x.co`,
  ])('%j does not', (text) => {
    expect(namesAccount(text)).toBe(false);
  });
});
