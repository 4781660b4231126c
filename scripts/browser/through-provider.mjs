// Through a real identity provider, there and back, in and out.
import { judgePage } from './sign-in-steps.mjs';

const SIGNED_IN = 'Where you are signed in';

export async function throughProvider(context, server, { issuer, ask }) {
  const { chromium, judge, take } = context;
  await ask('signsIn', undefined);
  const page = await chromium.page();
  await page.go(`${server.origin}/sign-in?returnTo=/docs/errors`);
  judge('beside a provider there is no other way', !(await page.evaluate("!!document.querySelector('form')")), 'there is a form');
  await take(page, 'provider');
  await page.click('main a.button');
  await page.until(`location.origin === ${JSON.stringify(issuer)} && !!document.querySelector('input[name=login]')`);
  await page.type('input[name=login]', 'linus');
  await page.click('button');
  await page.until("location.pathname === '/docs/errors'");
  judge('the provider vouches for somebody, who comes back to where they were', true);
  await page.go(`${server.origin}/sign-in`);
  const me = await page.evaluate("fetch('/api/v1/auth/me').then((answer) => answer.json())");
  judge('who they are, the provider says', me.user.email === 'linus@example.test' && me.session.method === 'provider', JSON.stringify(me));
  await page.says(SIGNED_IN);
  await take(page, 'account-of-provider');
  await page.click('form[action$=sign-out] button');
  await page.until(`location.origin === ${JSON.stringify(issuer)} && !!document.querySelector('form input[name=xsrf]')`);
  await page.evaluate(`(() => {
    const [form] = document.forms;
    form.append(Object.assign(document.createElement('input'), { name: 'logout', value: 'yes' }));
    form.submit();
  })()`);
  await page.until(`location.origin === ${JSON.stringify(server.origin)}`);
  await page.says('Use your company account');
  const after = await page.evaluate("fetch('/api/v1/auth/me').then((answer) => answer.status)");
  judge('signing out ends it at both ends', after === 401, `still ${after}`);
  judgePage(context, 'through the provider', page, [server.origin, issuer]);
}
