import { expect, test } from '@jest/globals';
import { accountUrl } from './account-url.js';

test.each([
  ['https://id.example/admin/users', 'ada', 'https://id.example/admin/users/ada'],
  ['https://id.example/admin/users/', 'ada', 'https://id.example/admin/users/ada'],
  ['https://id.example', 'ada', 'https://id.example/ada'],
  ['https://id.example/users?realm=a', 'ada', 'https://id.example/users/ada?realm=a'],
  ['https://id.example/users/{sub}/account', 'ada', 'https://id.example/users/ada/account'],
  ['https://id.example/users?id={sub}', 'ada', 'https://id.example/users?id=ada'],
  ['https://id.example/users', 'auth0|5f/7?x#y z', 'https://id.example/users/auth0%7C5f%2F7%3Fx%23y%20z'],
  ['https://id.example/users', '../groups/admins', 'https://id.example/users/..%2Fgroups%2Fadmins'],
  ['https://id.example/users', '%2e%2e', 'https://id.example/users/%252e%252e'],
  ['https://id.example/{sub}', '$&', 'https://id.example/%24%26'],
])('at %s, of %s', (adminUrl, subject, url) => {
  expect(accountUrl(adminUrl, subject)).toBe(url);
});

test.each(['.', '..', ''])('%j leads nowhere else', (subject) => {
  expect(accountUrl('https://id.example/users', subject)).toBeUndefined();
  expect(accountUrl('https://id.example/users/{sub}', subject)).toBeUndefined();
});
