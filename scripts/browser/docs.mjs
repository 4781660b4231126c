// The documentation is found one's way in: by keyboard and on a phone, by the search of every page, into Swagger UI and the how-to pages.
// The server is the built one, on a database of its own.
import { prepareOrExit } from '../prepare.mjs';
import { taker } from './chromium.mjs';

const PAGES = ['/docs', '/docs/how-to', '/docs/how-to/connector', '/docs/glossary', '/docs/errors', '/docs/search?q=agent'];
const readyOf = (path) => (path === '/docs' ? "document.querySelector('#api .opblock')" : 'true');
const OPEN = "(document.querySelector('#api .opblock.is-open')?.innerText ?? '')";
const IN_SIGHT = `(() => {
  const { top } = document.querySelector('#api .opblock.is-open').getBoundingClientRect();
  return top > document.querySelector('.bar').offsetHeight - 1 && top < innerHeight / 2;
})()`;
const RESULTS = "[...document.querySelectorAll('.found a')].map((one) => one.getAttribute('href'))";
/** What is broader than the screen, but for what scrolls by itself. */
const TOO_BROAD = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

export async function docsInBrowser(chromium, judge, { pictures }) {
  prepareOrExit({ development: true });
  const { startOwnServer } = await import('../../dist/demo/own-server.js');
  const stops = [];
  try {
    const { url } = await startOwnServer(new AbortController().signal, (stop) => stops.push(stop), { LOG_LEVEL: 'error' });
    const page = await chromium.page();
    const take = taker(pictures);
    await bySearch({ page, judge, url, take });
    await onPhone({ page, judge, url });
    for (const path of pictures === undefined ? [] : PAGES) {
      await page.go(`${url}${path}`, readyOf(path));
      await take(page, `docs-${path.split('/').pop().split('?')[0]}`);
    }
    judge('the pages complain of nothing', page.errors().length === 0, page.errors().join('\n'));
    const elsewhere = page.requestedUrls().filter((one) => !one.startsWith(url) && !one.startsWith('data:'));
    judge('and load nothing from elsewhere', elsewhere.length === 0, elsewhere.join('\n'));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function bySearch({ page, judge, url, take }) {
  await page.go(`${url}/docs`, "document.querySelector('#api .opblock')");
  await page.press('/');
  await page.send('Input.insertText', { text: 'editedInput' });
  await page.until(`${RESULTS}.length > 0`);
  const [first] = await page.evaluate(RESULTS);
  judge('a member of a body leads to its operation', /approve/i.test(first), first);
  await take(page, 'docs-typing', { whole: false });
  await page.press('ArrowDown');
  await page.press('Enter');
  await page.until(`${OPEN}.includes('/approve')`);
  await page.until(IN_SIGHT);
  judge('which opens where one looks', true);
  judge('and the list of results is gone', await page.evaluate("document.querySelector('.found').hidden"), 'it is open');
  await page.press('/');
  await page.evaluate("document.querySelector('[type=search]').value = ''");
  await page.send('Input.insertText', { text: 'several people' });
  await page.until(`${RESULTS}.includes('/docs/how-to/quorum')`);
  await page.press('Escape');
  judge('Escape closes the results', await page.evaluate("document.querySelector('.found').hidden"), 'they are open');
  await page.press('Enter');
  await page.until("location.pathname === '/docs/search' && document.querySelector('#results a')");
  await page.click('#results a[href="/docs/how-to/quorum"]');
  await page.until("location.pathname === '/docs/how-to/quorum'");
  judge('Enter leads to the page of results, and that on', true);
}

async function onPhone({ page, judge, url }) {
  await page.send('Emulation.setDeviceMetricsOverride', { width: 360, height: 740, deviceScaleFactor: 2, mobile: true });
  for (const path of PAGES) {
    await page.go(`${url}${path}`, readyOf(path));
    const over = await page.evaluate(TOO_BROAD);
    judge(`${path} is as broad as a phone`, over === 0, `${over} pixels over`);
  }
  await page.click('[type=search]');
  await page.evaluate("document.querySelector('[type=search]').select()");
  await page.send('Input.insertText', { text: 'rotate' });
  await page.until(`${RESULTS}.includes('/docs/how-to/rotation')`);
  await page.click('.found a[href="/docs/how-to/rotation"]');
  await page.until("location.pathname === '/docs/how-to/rotation'");
  judge('and the search is one for fingers', true);
  await page.send('Emulation.clearDeviceMetricsOverride');
}
