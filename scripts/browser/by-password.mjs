// By password, with scripts switched off from the first page to the last.
import { asRoot, invited, judgePage } from './sign-in-steps.mjs';

const PASSWORD = 'lantern orbit gravel nine';
const CHANGED = 'meadow cobalt winter seven';
const SIGNED_IN = 'Where you are signed in';

export async function byPassword(context, server) {
  const { chromium, judge, take } = context;
  const page = await chromium.page();
  await page.send('Emulation.setScriptExecutionDisabled', { value: true });
  const email = 'grace@example.test';
  const submit = () => page.click('main form[action="/sign-in"] button[type=submit]');
  const signIn = async (password) => {
    await page.type('#email', email);
    await page.type('#password', password);
    await submit();
  };

  await page.go(await invited(server, email, { name: 'Grace Hopper' }));
  const offered = await page.evaluate("document.querySelector('[data-passkey]').checkVisibility()");
  judge('without scripts nothing is offered that needs them', !offered, 'it is');
  await page.type('#new-password', 'password1234');
  await page.click('[data-main]');
  await page.says('The password must not');
  await take(page, 'invitation-refused');
  await page.type('#new-password', PASSWORD);
  await page.click('[data-main]');
  await page.says(SIGNED_IN);
  judge('an invitation is taken with a password', true);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');

  await signIn('not the right one at all');
  await page.says('The address or the password is not right.');
  const kept = await page.evaluate("document.querySelector('#email').value");
  judge('a wrong password is refused, and the address stays', kept === email, kept);
  await take(page, 'wrong-password');
  await signIn(PASSWORD);
  await page.says(SIGNED_IN);
  judge('a password signs in', true);
  await take(page, 'account-of-password');

  await page.click('details summary');
  await page.type('#new-password', CHANGED);
  await page.click('form[action$="/password"] button');
  await page.says('The new password holds.');
  judge('the password is changed', true);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');

  const { organization } = await asRoot(server, 'POST', '/api/v1/organizations', { name: 'Second Harbour' });
  await page.go(await invited(server, email, { organizationId: organization.id }));
  await page.type('#new-password', CHANGED);
  await page.click('[data-main]');
  await page.says(SIGNED_IN);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');
  await signIn(CHANGED);
  await page.says('Which organization?');
  await take(page, 'which-organization');
  await page.click('.choice:last-of-type');
  await page.type('#password', CHANGED);
  await submit();
  await page.says('Second Harbour');
  judge('of two accounts one is chosen', true);
  judgePage(context, 'by password', page, [server.origin]);
}
