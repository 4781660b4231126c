// By invitation and passkey, out and in again; and what a passkey must not do.
import { asRoot, invited, judgePage } from './sign-in-steps.mjs';

const AUTHENTICATOR = {
  protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
  automaticPresenceSimulation: true,
};
const BUTTON = '[data-passkey]';
const SAID = "(document.querySelector('[data-said]:not([hidden])') || {}).innerText";
const SIGNED_IN = 'Where you are signed in';

export async function byPasskey(context, server) {
  const { chromium, judge, take } = context;
  const page = await chromium.page();
  await page.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await page.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
  const passkeys = async () => (await page.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

  const link = await invited(server, 'ada@example.test', { name: 'Ada Lovelace', role: 'owner' });
  await page.go(link, `document.querySelector('${BUTTON}').checkVisibility()`);
  await take(page, 'invitation');
  await page.click(BUTTON);
  await page.says(SIGNED_IN);
  const [made] = await passkeys();
  judge('an invitation is taken with a passkey', made.isResidentCredential && made.rpId === 'localhost', JSON.stringify(made));
  const me = await page.evaluate("fetch('/api/v1/auth/me').then((answer) => answer.json())");
  judge('the passkey names the account', Buffer.from(made.userHandle, 'base64').toString() === me.user.id, JSON.stringify(me));
  judge('the account is who was invited', me.user.email === 'ada@example.test' && me.role === 'owner', JSON.stringify(me));
  await take(page, 'account-of-passkey');
  await page.go(link);
  judge('the link is used up', (await page.evaluate('document.body.innerText')).includes('not good any more'), 'it opens again');
  await take(page, 'used-invitation');

  await page.go(`${server.origin}/sign-in`);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');
  await take(page, 'signed-out');
  await page.go(`${server.origin}/sign-in?returnTo=/docs/errors`);
  await page.click(BUTTON);
  await page.until("location.pathname === '/docs/errors'");
  judge('a passkey signs in, and leads on', true);

  await outAndTried(page, server);
  const counted = (await passkeys())[0];
  judge('it counts', counted.signCount > made.signCount, `${made.signCount}, then ${counted.signCount}`);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');

  const refused = async (name, wanted) => {
    await page.click(BUTTON);
    await page.until(SAID);
    const said = await page.evaluate(SAID);
    judge(name, wanted.test(said), said);
  };
  await page.send('WebAuthn.removeCredential', { authenticatorId, credentialId: counted.credentialId });
  await page.send('WebAuthn.addCredential', { authenticatorId, credential: { ...counted, signCount: 0 } });
  await refused('a copy that counts from before is refused', /Nobody can sign in by this passkey/);
  await take(page, 'refused-passkey');
  await page.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.go(`${server.origin}/sign-in`);
  await refused('whoever cannot show that it is they is refused by the device', /took too long|Nobody can sign in/);
  await page.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });

  const entries = (await asRoot(server, 'GET', '/api/v1/audit?event_type=auth.failed')).entries;
  judge('the copy is recorded in the log', JSON.stringify(entries).includes('passkey_counter'), JSON.stringify(entries));
  judgePage(context, 'by passkey', page, [server.origin]);
  await secondPasskey(context, server, page, authenticatorId, counted);
}

/** In once more by the passkey, so that its counter moves. */
async function outAndTried(page, server) {
  await page.go(`${server.origin}/sign-in`);
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');
  await page.click(BUTTON);
  await page.says(SIGNED_IN);
}

/** A second passkey on another device, and the first removed: by whoever has just come in. */
async function secondPasskey({ judge }, server, page, authenticatorId, { credentialId, signCount, ...first }) {
  await page.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
  await page.send('WebAuthn.addCredential', { authenticatorId, credential: { credentialId, ...first, signCount: signCount + 100 } });
  await page.go(`${server.origin}/sign-in`);
  await page.click(BUTTON);
  await page.says(SIGNED_IN);
  await page.click('form[action*="/passkeys/"] button');
  await page.says('It is the last way to sign in');
  judge('the last way in stays', true);
  await page.click('[data-passkey-add] button');
  await page.says('This device has a passkey of yours already.');
  await page.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  await page.send('WebAuthn.addVirtualAuthenticator', { options: { ...AUTHENTICATOR, transport: 'usb' } });
  await page.click('[data-passkey-add] button');
  await page.says('The passkey is ready.');
  judge('another device gets one of its own', true);
  await page.click('.rows li:last-child form[action*="/passkeys/"] button');
  await page.says('The passkey is removed.');
  const { total } = await page.evaluate("fetch('/api/v1/auth/passkeys').then((answer) => answer.json())");
  judge('the first one is removed', total === 1, `${total} are left`);
}
